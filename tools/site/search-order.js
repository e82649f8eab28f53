// The weights of the search: the theme's own, but the heading of a section that matches comes before pages that only
// contain the words, and decisions and the changelog come last.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , anchor, , score]) =>
    (anchor ? score * 2 : score) / (/^(docs\/adr\/|CHANGELOG)/.test(page) ? 4 : 1),
};
