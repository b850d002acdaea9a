import { AppError, type Clock } from "@signalbox/core";
import { bytes, createRoutes, type Routes } from "@signalbox/http";

const mediaType = "text/plain";
const dayMs = 86_400_000;
/** RFC 9116 wants less than a year. Who keeps a copy longer than this asks again. */
const validDays = 180;

export interface SecurityContact {
  /** A URI; null where the deployment names none. */
  readonly contact: string | null;
  readonly clock: Clock;
}

/** Serves the contact for reports of vulnerabilities (RFC 9116); without one there is no such file. */
export function securityTxtRoutes({ contact, clock }: SecurityContact): Routes {
  const routes = createRoutes();
  routes.get("/.well-known/security.txt", {
    operationId: "securityTxt",
    summary: "Read where to report a vulnerability",
    description: "The contact of this deployment (RFC 9116); 404 where none is named.",
    auth: "anonymous",
    responses: {
      200: {
        content: [mediaType],
        example: "Contact: mailto:security@example.org\nExpires: 2027-05-01T00:00:00.000Z\nPreferred-Languages: en\n",
      },
      404: "error",
    },
    cache: "public, max-age=300",
    handle: () => {
      if (contact === null) throw new AppError("not_found", "This deployment names no contact for security reports.");
      return bytes(Buffer.from(securityTxt(contact, clock.nowMs())), `${mediaType}; charset=utf-8`);
    },
  });
  return routes;
}

/** From the start of a day, so that the text and its ETag stay the same until the next one. */
function securityTxt(contact: string, nowMs: number): string {
  const expires = new Date((Math.floor(nowMs / dayMs) + validDays) * dayMs).toISOString();
  return `Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n`;
}
