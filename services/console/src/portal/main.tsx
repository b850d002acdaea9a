import "../tokens.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { PortalGate } from "./portal-gate.tsx";
import { portalRouter } from "./portal-routes.tsx";
import { openPortal } from "./portal-session.ts";

// The client itself repeats what may be repeated; a second layer would multiply the tries.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 5_000 } } });

void openPortal(queries);

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={queries}>
      <PortalGate>
        <RouterProvider router={portalRouter as never} />
      </PortalGate>
    </QueryClientProvider>,
  );
}
