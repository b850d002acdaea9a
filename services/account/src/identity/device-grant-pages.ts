import { isScope } from "@signalbox/contracts";
import type { Configuration, ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { brandOf, Html, html, notePage, type Page, textsForReader } from "../pages/page.ts";
import { fill, minutesIn, type Texts, timeIn } from "../texts/texts.ts";
import { deviceTriesMs } from "./callers/callers.ts";
import type { IdentityService, Middleware } from "./identity-service.ts";
import { showPage } from "./provider-pages.ts";
import { describedBy, problemAbove } from "./sign-in-pages.ts";

type DeviceFlow = NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]>;

/** The path of the page that asks for a device's code. */
const path = "/device";

/** The errors of the code itself, for which the page asks again; any other one ends the device's request. */
const mistakes: ReadonlySet<string> = new Set(["NoCodeError", "NotFoundError", "ExpiredError", "AlreadyUsedError"]);

/**
 * The pages of the device grant (RFC 8628): a code is typed, and then the person sees what asks for access, where and
 * when, and has to press a button, because a code may have been sent by a stranger (§5.4).
 */
export function deviceFlow(service: IdentityService): DeviceFlow {
  const { callers, clock } = service;
  return {
    enabled: true,
    // Letters without vowels: a code never is a word.
    charset: "base-20",
    mask: "****-****",
    deviceInfo: (ctx) => ({ address: callers.clientAddress(ctx.req), at: clock.now().toISOString() }),

    userCodeInputSource(ctx, _form, out, error) {
      const texts = textsOf(service, ctx);
      if (ctx.method === "POST" || out) dropUnsavedSession(ctx);
      if (error?.name === "AbortedError") return showPage(service, ctx, endPage(texts, "cancelled"));
      const isMistake = error !== undefined && mistakes.has(error.name);
      if (out && !isMistake) return showPage(service, ctx, failurePage(texts, out, ctx.status));
      if (isMistake && !callers.limits.deviceCode(ctx.req).allowed)
        return showPage(service, ctx, tooManyTriesPage(texts));
      const { secret } = (ctx.oidc.session?.state ?? {}) as { secret?: string };
      const form = { action: ctx.oidc.urlFor("code_verification"), secret: secret ?? "", typed: typedOf(ctx) };
      showPage(service, ctx, inputPage(texts, form, isMistake ? texts.pages.device.wrong : null));
    },

    userCodeConfirmSource(ctx, form, client, deviceInfo, userCode) {
      const { oidc } = ctx;
      const scope = String(oidc.entities.DeviceCode?.params?.scope ?? "");
      const asked = { scopes: scope.split(" ").filter(Boolean), deviceInfo, userCode };
      const values = { application: client.clientName ?? client.clientId, server: brandOf(service).name };
      showPage(service, ctx, confirmPage(textsOf(service, ctx), new Html(form), values, asked));
    },

    successSource(ctx) {
      const application = ctx.oidc.client?.clientName ?? ctx.oidc.client?.clientId ?? "";
      showPage(service, ctx, endPage(textsOf(service, ctx), "done", { application }));
    },
  };
}

const textsOf = (service: IdentityService, ctx: KoaContextWithOIDC): Texts =>
  textsForReader(service, ctx.headers, ctx.oidc?.params?.ui_locales);

/** The step before the provider: it bounds the tries, and fills in a code that came in the address. */
export function deviceStep(service: IdentityService): Middleware {
  return async (ctx, next) => {
    if (ctx.path.toLowerCase() !== path) return next();
    if (ctx.method === "POST" && service.callers.limits.deviceCode(ctx.req, 0).remaining < 1) {
      return showPage(service, ctx, tooManyTriesPage(textsForReader(service, ctx.headers)));
    }
    // The provider would submit a code in the address by script, which our pages never run.
    const { user_code: typed, ...rest } = ctx.query;
    if (typeof typed === "string") ctx.state.typedCode = typed.slice(0, 32);
    ctx.query = rest;
    await next();
  };
}

/** The provider would fail to extend the session that it made up for a form without one. */
function dropUnsavedSession({ oidc: { session } }: KoaContextWithOIDC): void {
  const kept = session as unknown as { exp?: number; touched?: boolean } | undefined;
  if (kept && typeof kept.exp !== "number") kept.touched = false;
}

const typedOf = (ctx: KoaContextWithOIDC): string => String(ctx.state.typedCode ?? "");

interface CodeForm {
  readonly action: string;
  readonly secret: string;
  readonly typed: string;
}

function inputPage(texts: Texts, { action, secret, typed }: CodeForm, problem: string | null): Page {
  const { device } = texts.pages;
  return {
    status: problem === null ? 200 : 422,
    texts,
    title: device.title,
    content: html`${problemAbove(problem)}
<form method="post" action="${action}">
<input type="hidden" name="xsrf" value="${secret}">
<label for="code">${device.code}</label>
<p class="hint" id="hint">${device.codeHint}</p>
<input id="code" name="user_code" type="text" value="${typed}" maxlength="32" autocomplete="off" autocapitalize="characters"
 spellcheck="false" required autofocus ${describedBy(problem)}>
<button type="submit" class="main">${device.next}</button>
</form>`,
  };
}

interface AskedByDevice {
  readonly scopes: readonly string[];
  readonly deviceInfo: Readonly<Record<string, unknown>>;
  readonly userCode: string;
}

function confirmPage(
  texts: Texts,
  form: Html,
  values: Readonly<Record<string, string>>,
  { scopes, deviceInfo, userCode }: AskedByDevice,
): Page {
  const { device } = texts.pages;
  const at = timeIn(texts, new Date(String(deviceInfo.at)), "UTC");
  return {
    status: 200,
    texts,
    title: device.confirmTitle,
    content: html`<p>${fill(device.confirmText, values)}</p>
<p><code class="large">${userCode}</code></p>
<p>${fill(device.asked, { at, address: String(deviceInfo.address ?? "–") })}</p>
${scopeList(texts, scopes)}
<p>${device.warning}</p>
${form}
<div class="buttons">
<button type="submit" form="op.deviceConfirmForm" class="main">${device.connect}</button>
<button type="submit" form="op.deviceConfirmForm" name="abort" value="yes">${device.cancel}</button>
</div>`,
  };
}

/** Lists the scopes of the API that an application asks for; null when it asks for none. */
export function scopeList(texts: Texts, asked: readonly string[]): Html | null {
  const items = asked.filter(isScope).map((scope) => html`<li><code>${scope}</code></li>`.text);
  return items.length === 0 ? null : html`<p>${texts.pages.consent.scopes}</p>\n<ul>${new Html(items.join(""))}</ul>`;
}

function endPage(texts: Texts, end: "done" | "cancelled", values: Readonly<Record<string, string>> = {}): Page {
  const { device } = texts.pages;
  return notePage(texts, 200, { title: device[`${end}Title`], text: fill(device[end], values) });
}

function failurePage(texts: Texts, { error }: ErrorOut, status: number): Page {
  const { device, failed } = texts.pages;
  const content = html`<p>${device.failed}</p>\n<p>${failed.code} <code>${error}</code></p>`;
  return { status, texts, title: failed.title, content };
}

function tooManyTriesPage(texts: Texts): Page {
  const text = fill(texts.pages.device.tooMany, { minutes: minutesIn(texts, deviceTriesMs) });
  return notePage(texts, 429, { title: texts.pages.tooMany.title, text });
}
