// The credential is typed in by hand, or comes from a sign-in, and is never stored: sign-in pages have the same origin.
import { offerSignIn } from "./sign-in.js";

const examples = [
  `query Me {
  viewer {
    id
    displayName
    images(first: 5) {
      edges {
        node {
          id
          filename
        }
      }
    }
  }
}
`,
  `mutation Rename {
  updateAccount(input: { displayName: "Ada King" }) {
    account {
      displayName
    }
    errors {
      field
      code
      message
    }
  }
}
`,
  `subscription Images {
  imageChanged {
    changed
    image {
      id
      filename
      status
    }
  }
}
`,
];

const root = new URL("../../", import.meta.url);
const graph = `${root.pathname}graphql`;
const [button, status] = ["sign-in", "signed-in"].map((id) => document.getElementById(id));
const key = document.getElementById("key");
document.getElementById("credential").addEventListener("submit", (event) => event.preventDefault());
const credential = () => {
  const typed = key.value.trim();
  if (typed === "") return {};
  return typed.startsWith("sbx_") ? { "X-API-Key": typed } : { Authorization: `Bearer ${typed}` };
};
const onToken = (token) => {
  key.value = token;
};
const query = new URLSearchParams(location.search).get("query");
offerSignIn({ root, page: graph, returnTo: `${graph}/signed-in`, button, status, onToken }).catch((error) => {
  status.textContent = `The sign-in is not there now: ${error.message}`;
});
const send = GraphiQL.createFetcher({
  url: graph,
  subscriptionUrl: location.origin.replace(/^http/, "ws") + graph,
});
/** For a moment after a change of tabs GraphiQL still has the operation of the other one. */
const current = (params, options) => {
  const [, operation] = /^\s*(query|mutation|subscription)\b/.exec(params.query) ?? [];
  if (!operation || new RegExp(`\\b${params.operationName}\\b`).test(params.query)) return [params, options];
  const documentAST = { kind: "Document", definitions: [{ kind: "OperationDefinition", operation }] };
  return [
    { ...params, operationName: undefined },
    { ...options, documentAST },
  ];
};
const page = React.createElement(GraphiQL, {
  fetcher: (params, options = {}) =>
    send(...current(params, { ...options, headers: { ...credential(), ...options.headers } })),
  shouldPersistHeaders: false,
  ...(query === null ? { defaultTabs: examples.map((query) => ({ query })) } : { query }),
});
ReactDOM.createRoot(document.getElementById("graphiql")).render(page);
