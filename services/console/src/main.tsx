import { router } from "./routes.tsx";
import { clearDrafts } from "./session/drafts.ts";
import { sessionState, startSession } from "./session/session.ts";
import { Gate } from "./shell/gate.tsx";
import { queries, start } from "./start.tsx";

// The next person sees nothing of the one before.
sessionState.listen(() => {
  if (sessionState.value.kind !== "signed-out") return;
  queries.clear();
  clearDrafts();
});
void startSession();
start(router, Gate);
