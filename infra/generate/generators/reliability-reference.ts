import type { Generator } from "../generator.ts";

/** The tables of the rounds that the ledger has played, from the file it adds them to. */
export const reliabilityReference: Generator = {
  name: "reliability reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { reliabilityPage } = await import("../../../test-e2e/ledger/report/reliability-page.ts");
    return new Map([["docs/reference/reliability.md", await reliabilityPage()]]);
  },
};
