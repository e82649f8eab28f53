// The weights of the search: the theme's own, but the heading of a section that matches comes before pages that only
// contain the words; schemas, the architecture, decisions and the changelog come last.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , anchor, , score]) => {
    const seldom = /^(docs\/adr\/|docs\/architecture|CHANGELOG)/.test(page) || /^#schema-/.test(anchor ?? "");
    return (anchor ? score * 3 : score) / (seldom ? 6 : 1);
  },
};
