/** How sections are indexed and found; the build and the browser must agree on it. */
export const SEARCH = {
  idField: "key",
  fields: ["heading", "page", "text"],
  storeFields: ["slug", "page", "heading", "anchor", "text"],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: "AND" as const, boost: { heading: 4, page: 2 } },
};
