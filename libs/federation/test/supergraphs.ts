import type { SupergraphSource } from "./test-supergraph.ts";

/** Keys of every kind, requirements, provided and moved fields, unions and interfaces. */
const shop: SupergraphSource = {
  subgraphs: {
    products: `
      type Query { products(first: Int = 3): [Product] product(upc: String!, near: Near): Product search(text: String): [Result!] node: Node }
      input Near { name: String! tags: [String!] deep: Near }
      union Result = Product | User
      interface Node { id: ID! }
      interface Priced { price(currency: Currency = USD): Int weight: Int }
      enum Currency { USD EUR }
      type Product implements Node & Priced @key(fields: "id") @key(fields: "upc") {
        id: ID! upc: String! name: String price(currency: Currency = USD): Int weight: Int dimensions: Dimensions
        parts: [Part] brand: Brand! related(first: Int!): [Product!]
      }
      type Dimensions @shareable { height: Int width: Int unit: Unit }
      type Unit @shareable { name: String! }
      type Part { name: String! of: Product }
      union Brand = House | Maker
      type House { name: String! city: String }
      type Maker @key(fields: "name") { name: String! owner: User }
      type User implements Node @key(fields: "id") { id: ID! }
      type Mutation { rename(id: ID!, to: String, near: Near): Product move(near: Near!): Int touch: Int }
    `,
    reviews: `
      type Query { latest(first: Int): [Review] @shareable }
      type Review @key(fields: "id") { id: ID! body: String stars: Int! author: User @provides(fields: "handle") product: Product! }
      type Product @key(fields: "upc") { upc: String! reviews(limit: Int = 2): [Review!] score: Int }
      type User @key(fields: "id") { id: ID! handle: String @external reviews: [Review] }
    `,
    inventory: `
      type Product @key(fields: "id") {
        id: ID! price(currency: Currency = USD): Int @external weight: Int @external
        dimensions: Dimensions @external
        shipping: Int @requires(fields: "price(currency: EUR) weight dimensions { height unit { name } }")
        stock: Int! heavy: String @requires(fields: "weight")
      }
      type Dimensions @shareable { height: Int width: Int unit: Unit }
      type Unit @shareable { name: String! }
      enum Currency { USD EUR }
    `,
    accounts: `
      type Query { me: User latest(first: Int): [Review] @shareable users(limit: Int): [User!]! }
      type Review @key(fields: "id") { id: ID! body: String @override(from: "reviews") }
      type User @key(fields: "id") @key(fields: "organization { id }") {
        id: ID! handle: String @shareable organization: Organization! friends(first: Int): [User] favourite: Product
        digest: String @requires(fields: "nick") nick: String @external
        maker: Maker
      }
      type Organization @key(fields: "id") { id: ID! name: String }
      type Product @key(fields: "upc") { upc: String! }
      type Maker @key(fields: "name") { name: String! founded: Int }
    `,
    nicks: `
      type User @key(fields: "organization { id }") { organization: Organization! nick: String handle: String @shareable }
      type Organization @key(fields: "id") { id: ID! size: Int }
    `,
  },
  rules: {
    requires: {
      "Product.shipping": "price(currency: EUR) weight dimensions { height unit { name } }",
      "Product.heavy": "weight",
      "User.digest": "nick",
    },
    ownId: ["User.organization"],
    steady: [
      ...[
        "Product.upc",
        "Product.price",
        "Product.weight",
        "Product.dimensions",
        "Dimensions.height",
        "Dimensions.unit",
      ],
      ...["Unit.name", "User.organization", "User.nick", "Maker.name"],
    ],
  },
};

/** Interfaces whose entities one subgraph knows as one type, and types that are not public. */
const media: SupergraphSource = {
  subgraphs: {
    library: `
      type Query { media: [Media] book: Book shelf(of: Kind): [Item] }
      interface Media @key(fields: "id") { id: ID! title: String }
      union Item = Book | Film | Hidden
      enum Kind { BOOK FILM SECRET @inaccessible }
      type Book implements Media @key(fields: "id") { id: ID! title: String pages: Int! kind: Kind secret: String @inaccessible }
      type Film implements Media @key(fields: "id") { id: ID! title: String minutes: Int sequel: Film }
      type Hidden @inaccessible { name: String }
    `,
    ratings: `
      type Query { best: [Media!] }
      type Media @interfaceObject @key(fields: "id") { id: ID! rating: Int! critics(first: Int): [Critic!] }
      type Critic @key(fields: "id") { id: ID! name: String }
    `,
    critics: `
      type Critic @key(fields: "id") { id: ID! loves: Media trust: Float }
      type Media @interfaceObject @key(fields: "id") { id: ID! mood: String }
    `,
  },
  rules: {
    interfaceFields: Object.fromEntries(
      ["Book", "Film"].flatMap((type) => ["rating", "critics", "mood"].map((field) => [`${type}.${field}`, "Media"])),
    ),
    steady: ["Media.rating"],
  },
};

/** One object in several answers at once, and paths over several subgraphs. */
const chain: SupergraphSource = {
  subgraphs: {
    a: `
      type Query { start: A shared: Box lists: [[Box!]] }
      type A @key(fields: "a") { a: ID! b: B one: Int }
      type B @key(fields: "id") { id: ID! }
      type Box @shareable { x: Int inner: Inner many: [Inner!] }
      type Inner @shareable { p: Int q: String }
    `,
    b: `
      type Query { other: Box }
      type B @key(fields: "id") @key(fields: "code") { id: ID! code: String! two: Int c: [C!]! box: Box! }
      type C @key(fields: "id") { id: ID! }
      type Box @shareable { x: Int inner: Inner many: [Inner!] }
      type Inner @shareable { p: Int q: String }
    `,
    c: `
      type B @key(fields: "code") { code: String! three: String far: D }
      type C @key(fields: "id") { id: ID! value: Value! back: A text: String! }
      type A @key(fields: "a") { a: ID! four: Int! }
      union Value = D | E
      type D @key(fields: "id") { id: ID! name: String }
      type E { level: Int }
    `,
    d: `
      type D @key(fields: "id") { id: ID! size: Int! sum: Int @requires(fields: "name") name: String @external list: [D] }
    `,
  },
  rules: { requires: { "D.sum": "name" }, steady: ["A.a", "B.code", "D.name"] },
};

export const supergraphs = { shop, media, chain };
