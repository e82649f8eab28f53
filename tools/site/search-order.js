// What counts in a search. The theme's own weights, but guides come before decisions and the changelog:
// whoever searches wants to know how it is, before why it is so and since when.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , score]) => (/^(docs\/adr\/|CHANGELOG)/.test(page) ? score / 4 : score),
};
