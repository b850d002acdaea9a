const product = "{ inStock name price shippingEstimate upc weight }";

/** Builds the heavy query of the public gateway benchmark, with other names and values each time. */
export const heavy = (name: string | number, values: number | string): string => {
  const inner = `r${name}: reviews { id body product ${product} }`;
  const author = `author { id username n${name}: name ${inner} }`;
  return `query${values === "$n" ? "($n: Int)" : ""} {
    users { id username name reviews { id body product { inStock name price shippingEstimate upc weight reviews { id body ${author} } } } }
    t${name}: topProducts(first: ${values}) { inStock name price shippingEstimate upc weight reviews { id body ${author} } }
  }`;
};

/** Builds a query of the reviews of some users, with the product of each: two subgraphs one after the other. */
export const twoHops = (name: number) =>
  `query($n: Int) { u${name}: users(first: $n) { name reviews { body product { name } } } }`;
