import "./tokens.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { router } from "./routes.tsx";
import { clearDrafts } from "./session/drafts.ts";
import { onSessionChange, readSession, startSession } from "./session/session.ts";
import { Gate } from "./shell/gate.tsx";

// The client itself repeats what may be repeated; a second layer would multiply the tries.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 5_000 } } });

// The next person sees nothing of the one before.
onSessionChange(() => {
  if (readSession().kind !== "signed-out") return;
  queries.clear();
  clearDrafts();
});
void startSession();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={queries}>
      <Gate>
        <RouterProvider router={router} />
      </Gate>
    </QueryClientProvider>,
  );
}
