import { verify, WebhookVerificationError } from "@signalbox/client/webhooks";
import { handle, secret } from "./handle.ts";

/** `app/webhooks/route.ts` */
export async function POST(request: Request): Promise<Response> {
  try {
    await handle(await verify(await request.arrayBuffer(), request.headers, secret));
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return Response.json({ error: error.code }, { status: 400 });
  }
}
