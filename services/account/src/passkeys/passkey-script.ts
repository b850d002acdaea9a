/**
 * The only script of our pages: it lets a form make or use a passkey, which a browser offers to scripts alone. It reads
 * the form's options, and posts what the browser answers in the form's field `response`.
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
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  for (const note of document.querySelectorAll("[data-without-passkey]")) note.hidden = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = form.querySelector("[data-problem]");
    problem.hidden = true;
    try {
      const publicKey = read(JSON.parse(form.dataset.options));
      const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
      form.elements.response.value = JSON.stringify(written(credential));
      HTMLFormElement.prototype.submit.call(form);
    } catch {
      problem.hidden = false;
    }
  });
}
`;
