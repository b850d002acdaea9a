import { queries, start } from "../start.tsx";
import { PortalGate } from "./portal-gate.tsx";
import { portalRouter } from "./portal-routes.tsx";
import { openPortal } from "./portal-session.ts";

void openPortal(queries);
start(portalRouter, PortalGate);
