import "./tokens.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type AnyRouter, RouterProvider } from "@tanstack/react-router";
import type { ComponentType, ReactNode } from "react";
import { createRoot } from "react-dom/client";

// The client itself repeats what may be repeated; a second layer would multiply the tries.
export const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 5_000 } } });

/** Shows the pages of a router behind their gate. */
export function start(router: AnyRouter, Gate: ComponentType<{ readonly children: ReactNode }>): void {
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <QueryClientProvider client={queries}>
      <Gate>
        <RouterProvider router={router as never} />
      </Gate>
    </QueryClientProvider>,
  );
}
