/**
 * The only script of our pages: it lets a form make or use a passkey, which a browser offers to scripts alone. It reads
 * the form's options, and posts what the browser answers in the form's field `response`. Where the browser can, it
 * offers passkeys beside the addresses that it fills in (conditional mediation), and hears of one that was removed here.
 * A form that asks for a code tells whether the device can hold a passkey, so that one is offered after the sign-in.
 */
export const passkeyScript = `"use strict";
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
const read = (options) => ({
  ...options,
  challenge: bytes(options.challenge),
  ...(options.user && { user: { ...options.user, id: bytes(options.user.id) } }),
  ...(options.excludeCredentials && { excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytes(one.id) })) }),
});
const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
const written = ({ id, rawId, type, response }) => ({
  id, rawId: text(rawId), type, clientExtensionResults: {},
  response: {
    ...Object.fromEntries(parts.filter((name) => response[name]).map((name) => [name, text(response[name])])),
    ...(response.getTransports && { transports: response.getTransports() }),
  },
});
const offer = new AbortController();
const perform = async (form, more) => {
  const publicKey = read(JSON.parse(form.dataset.options));
  const credential = await navigator.credentials[form.dataset.passkey]({ publicKey, ...more });
  form.elements.response.value = JSON.stringify(written(credential));
  HTMLFormElement.prototype.submit.call(form);
};
const tell = (form, error) => {
  const problem = form.querySelector("[data-problem]");
  if (error.name === "InvalidStateError" && problem.dataset.alreadyThere) problem.textContent = problem.dataset.alreadyThere;
  problem.hidden = false;
};
const offerBesideAddresses = async (form) => {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  await perform(form, { mediation: "conditional", signal: offer.signal }).catch(() => {});
};
const device = window.PublicKeyCredential?.isUserVerifyingPlatformAuthenticatorAvailable?.() ?? Promise.resolve(false);
for (const field of document.querySelectorAll("input[data-passkeys]")) device.then((can) => { field.value = can ? "yes" : ""; });
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  const { rpId } = JSON.parse(form.dataset.options);
  const credentialId = form.dataset.unknown;
  if (credentialId) PublicKeyCredential.signalUnknownCredential?.({ rpId, credentialId }).catch(() => {});
  else if (form.dataset.passkey === "get") offerBesideAddresses(form);
  for (const note of document.querySelectorAll("[data-without-passkey]")) note.hidden = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    offer.abort();
    form.querySelector("[data-problem]").hidden = true;
    await perform(form).catch((error) => tell(form, error));
  });
}
`;
