import type { Preset } from "./preset.ts";

export const dropbox: Preset = {
  title: "Dropbox",
  documentation: "https://www.dropbox.com/developers/reference/webhooks",
  scheme: "hmac",
  settings: {
    signatureHeader: "x-dropbox-signature",
    previousSignatureHeader: null,
    signaturePrefix: "",
    signedContent: "{body}",
    deliveryIdFrom: "digest",
    handshake: "dropbox",
  },
  secretFrom: "App Console → the app → App secret",
  steps: [
    "In the App Console copy the app secret into the source.",
    "Under Webhooks enter the address of the source and choose Add.",
    "Dropbox sends its verification request at once, and enables the address when the source has answered.",
  ],
  notes: ["Dropbox names only the accounts whose files changed, so the same body comes again and again."],
  vector: {
    from: "the recipe of Dropbox's documentation",
    secret: "an app secret of dropbox",
    headers: { "x-dropbox-signature": "ad42f013e626b197498ad36c3cb2f0239b69fea14808553b91644b5065bb26ee" },
    body: '{"list_folder":{"accounts":["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"]}}',
    atSeconds: 1700000000,
  },
};
