import { verify, WebhookVerificationError } from "@signalbox/client/webhooks";
import { handle, secret } from "./handle.ts";

/** An event of a function URL or of API Gateway. */
interface HttpEvent {
  readonly headers: Record<string, string | undefined>;
  readonly body?: string | null;
  readonly isBase64Encoded: boolean;
}

export async function handler({ headers, body, isBase64Encoded }: HttpEvent) {
  try {
    await handle(await verify(Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8"), headers, secret));
    return { statusCode: 204 };
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return { statusCode: 400, body: JSON.stringify({ error: error.code }) };
  }
}
