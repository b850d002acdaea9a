import { computed, type Preset } from "./preset.ts";

/** Senders that sign with a private key and publish the public one. */
export const publicKeys = {
  "aws-sns": {
    title: "AWS SNS",
    documentation: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
    documentedOn: "2026-11-29",
    scheme: "ed25519",
    settings: {
      keyFormat: "certificate",
      encoding: "base64",
      otherAlgorithm: "sha1",
      acceptWeak: true,
      signatureFrom: { pointer: "/Signature" },
      signedContent:
        "{line:Message}{line:MessageId}{line:Subject}{line:SubscribeURL}{line:Timestamp}{line:Token}TopicArn\n{secret}\n{line:Type}",
      certificateFrom: { pointer: "/SigningCertURL" },
      certificateUrls: ["https://sns.*.amazonaws.com/*.pem", "https://sns.*.amazonaws.com.cn/*.pem"],
      deliveryIdFrom: { pointer: "/MessageId" },
      eventTypeFrom: { pointer: "/Type" },
      handshake: "aws-sns",
      answer: { status: 200 },
    },
    secretFrom: "the ARN of the topic, `arn:aws:sns:…`",
    steps: [
      "Create the source with the ARN of the topic as its secret.",
      "Subscribe the address: `aws sns subscribe --protocol https --notification-endpoint ADDRESS --topic-arn ARN`. The source confirms the subscription by itself.",
      "Let the topic sign with SHA-256, which is better: `aws sns set-topic-attributes --attribute-name SignatureVersion --attribute-value 2 --topic-arn ARN`.",
    ],
    notes: [
      "AWS signs for all of its customers with the same keys, so the ARN is part of what is verified.",
      "A topic signs with SHA-1 as it was created (SignatureVersion 1) and with SHA-256 once you say so (2); the source takes both. Set `other_algorithm` to null to take version 2 alone.",
      "Message attributes, and with raw message delivery everything, are not signed: leave raw delivery off.",
      "SNS sends again with the first time, so no time is checked; the message id is signed and counts once.",
    ],
    retries:
      "By the topic's delivery policy; without one 100,015 times over 23 days for AWS services, 50 times over six hours for HTTPS.",
    vector: {
      made: "computed",
      from: "the recipe of AWS's documentation; `sns-validator` 0.3.5 accepts it",
      secret: "arn:aws:sns:us-west-2:123456789012:MyTopic",
      headers: { "content-type": "text/plain; charset=UTF-8", "x-amz-sns-message-type": "Notification" },
      body: '{"Type":"Notification","MessageId":"22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324","TopicArn":"arn:aws:sns:us-west-2:123456789012:MyTopic","Subject":"My First Message","Message":"Hello world!","Timestamp":"2023-11-14T22:13:20.000Z","SignatureVersion":"2","Signature":"qw+cb70CrvgMsiHuGR8hcusZxYrXgbCFFKFMaJlpaMAJZOApR3xZu0n+WBqa6Qcez/NX57m6fRlfUY1aT9i6OwVfW/OtLNRFTCHWxpQ5KOgDqP1vWisMtksSgKhRVMj87z8xKFSTSe2p4GH+ynwqvHcAbY8RiihX7nqmIiO3bvpaqyHzTAXrlYcqKPsXUjuAQc/JJDMx9tQJlAP/aCh1ydpk6fTDuGV3Ul41yll4sxjpriQlef7G6NATh/fEFKAaB0o+N2r7D6kXXofyvU82+eKKTemc5Pup/o+37s308P3gIvTG/jc6QbCzXy+Qgm2vrXCH1gaXbKg3uvMVCZ79gQ==","SigningCertURL":"https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0000000000000000000000.pem","UnsubscribeURL":"https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe"}',
      atSeconds: 1795780632,
      certificate:
        "-----BEGIN CERTIFICATE-----\nMIIDEzCCAfugAwIBAgIUe/m4R3D8fWrntXafGro+Vmzs1Z0wDQYJKoZIhvcNAQEL\nBQAwGTEXMBUGA1UEAwwOc2VuZGVyLmV4YW1wbGUwHhcNMjYxMTI2MTEzNzU4WhcN\nNDYxMTIxMTEzNzU4WjAZMRcwFQYDVQQDDA5zZW5kZXIuZXhhbXBsZTCCASIwDQYJ\nKoZIhvcNAQEBBQADggEPADCCAQoCggEBAMqDIjJmoUvT6U0LJQbrceL08mWgQkfo\ngd7H9QA+iSkeXTm4ZwF3tutqKM5DFv/cz2Iq0n1QuX3ztxcgn1xMSkiM48xDDNud\nHz6iG+6txeSyhCyOGO6o4+qWVXpkwrV9otz8ClEfi0bjXHQSDaEcBoomW28tbSzz\n9H5D4AYwbocCn/LcewD0bs35GXoe/B51B/+TCFRrw/MAnlnlv4y9W39DVzElFz+U\nlKfxi98qng/XYH63nxi2PgpFUqvBfvfVrHGixwe3ZfnnKn5dISR0cANgGl6u0+pd\njm0Ut6cLMdyy+mjb2CD6fP26w+C5Q5O6t+8XIJhgyvHX9RL+ocwFlZECAwEAAaNT\nMFEwHQYDVR0OBBYEFOBGBKKmoCUp0pYcSF4kvQye9AyzMB8GA1UdIwQYMBaAFOBG\nBKKmoCUp0pYcSF4kvQye9AyzMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQEL\nBQADggEBACsGfzEGAsi05yxYBLMKy93hT4R2kCk4fHOHsQCJ3ZLzJoBoAqOlPVpV\n5PGbbxUwuzssisrcusqKdx9NLlicy3iYw+/6UZ1QJTDLnamipXmD1QkEYOk2LgwB\niQe3o6cRZ4+5ywpj60YQKEzkCrdkzzK7G8cbbeouh3TGLZn5iFY73vB1HDi3IPoG\nm7tbanNaYZ6pWHTDVxj8whVZJG5TWnRWJjX2K3dIIptP/kkEZ7874IHik4m+PsY2\nNxy5HizqcKHmY8Cl3LGw02dHVWjgRjFrDmiSrbEjnrSUanb3mOYdpEoQi+SIHKUJ\nYozXejkX8/N7VnzqcWH8iBlomqdiD10=\n-----END CERTIFICATE-----\n",
    },
  },
  discord: {
    title: "Discord",
    documentation: "https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint",
    documentedOn: "2026-11-30",
    scheme: "ed25519",
    settings: {
      deliveryIdFrom: { pointer: "/id" },
      eventTypeFrom: [{ pointer: "/event/type" }, { pointer: "/type" }],
      handshake: "discord",
      answer: { status: 204 },
    },
    secretFrom: "Developer Portal → the application → General Information → Public Key",
    steps: [
      "In the Developer Portal copy the public key of the application into the source.",
      "Enter the address of the source as Interactions Endpoint URL, or under Webhooks as Endpoint URL.",
      "Save: Discord sends a PING and one request with a wrong signature, and expects the right answer to both.",
    ],
    notes: [
      "Discord's PING is answered. For interactions set the answer that Discord should get as `answer`, with the status 200.",
      "The type of a webhook event is its `event.type`, that of an interaction a number. Webhook events have no id.",
    ],
    retries: "None for interactions; webhook events with growing gaps for up to ten minutes.",
    vector: computed({
      from: "the recipe of Discord's documentation; the tests also verify with `discord-interactions`",
      secret: "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c",
      headers: {
        "x-signature-timestamp": "1700000000",
        "x-signature-ed25519":
          "4b12d5e6f1357f09badd5e9971a8eadd0669a9d2a75f549812f2fbef10697ce775d4b90301a12b11bb86864586bfe01728c3a0cd270e719eb02c681d56c4420c",
      },
      body: '{"id":"846462639134605312","type":2,"token":"A_UNIQUE_TOKEN"}',
    }),
  },
  "google-pubsub": {
    title: "Google Pub/Sub",
    documentation: "https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions",
    scheme: "jwt",
    settings: {
      issuer: "https://accounts.google.com",
      deliveryIdFrom: { pointer: "/message/messageId" },
      eventTypeFrom: { pointer: "/message/attributes/eventType" },
    },
    ownerSettings: {
      audience: "The audience that the push subscription gives its tokens.",
      requiredClaims: 'The email of the service account: [{"name":"email","value":"…"}].',
    },
    secretFrom: "always `https://www.googleapis.com/oauth2/v3/certs`, the address of Google's keys",
    steps: [
      "Create the source with Google's key address as its secret, and set `audience` to a text of your choice and `required_claims` to the `email` of the service account.",
      "Create the push subscription with the address of the source, `--push-auth-service-account` and `--push-auth-token-audience` with that text.",
      "Give the Pub/Sub service agent the role Service Account Token Creator, and publish a message.",
    ],
    notes: [
      "Google signs tokens for anybody, so audience and service account must both be required.",
      "The token proves the sender, not the body.",
      "The data of a message is in base 64; the type is the attribute `eventType`, which Cloud Storage and others set.",
      "Leave payload unwrapping off, or the message id is in a header.",
    ],
    retries: "Until it is acknowledged or the retention of the subscription ends, with gaps of its retry policy.",
    vector: {
      made: "computed",
      from: "the recipe of Google's documentation",
      secret:
        '{"keys":[{"kty":"RSA","n":"yoMiMmahS9PpTQslButx4vTyZaBCR-iB3sf1AD6JKR5dObhnAXe262oozkMW_9zPYirSfVC5ffO3FyCfXExKSIzjzEMM250fPqIb7q3F5LKELI4Y7qjj6pZVemTCtX2i3PwKUR-LRuNcdBINoRwGiiZbby1tLPP0fkPgBjBuhwKf8tx7APRuzfkZeh78HnUH_5MIVGvD8wCeWeW_jL1bf0NXMSUXP5SUp_GL3yqeD9dgfrefGLY-CkVSq8F-99WscaLHB7dl-ecqfl0hJHRwA2AaXq7T6l2ObRS3pwsx3LL6aNvYIPp8_brD4LlDk7q37xcgmGDK8df1Ev6hzAWVkQ","e":"AQAB","kid":"a-key-of-the-tests","alg":"RS256","use":"sig"}]}',
      headers: {
        authorization:
          "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6ImEta2V5LW9mLXRoZS10ZXN0cyIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJodHRwczovL2h1Yi5leGFtcGxlL2luZ2VzdC9zcmNfMSIsImF6cCI6IjExMzc3NDI2NDQ2MzAzODMyMTk2NCIsImVtYWlsIjoicHVzaEBwcm9qZWN0LmlhbS5nc2VydmljZWFjY291bnQuY29tIiwiZW1haWxfdmVyaWZpZWQiOnRydWUsImV4cCI6MTcwMDAwMzYwMCwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20iLCJzdWIiOiIxMTM3NzQyNjQ0NjMwMzgzMjE5NjQifQ.sqeenGyAWpThsAj5xyy1cwios-Ix9Nxyu4JqBOyB1vizeTXNLGAuU9BN5hgYNwGsTqIH6zPQNo42OlH5f98lN2qeSDnHcaN-IZ6poUt575g0dlX2C0cVIVnBL-WySZGEkw4fDXeABw34vG8PGayziYpDwumbiMqMMY8ni-tCvSbj9ZJomPtIzQbFFnjtJnUX7C5udYJXUSSA_K6_Ol8jtO9AsyMDO3tEXxul8O_K17iuWX-JnvRb-GMnLYFPki6f6smDZYHrf5Slvr2kRgSmwSjGQd9Mz7XDZEqecF5dfYALDAizyDiBBJlxx8CB7-a6g7nIltI36UR_7pJggp30SQ",
      },
      body: '{"message":{"attributes":{"eventType":"OBJECT_FINALIZE"},"data":"SGVsbG8=","messageId":"2070443601311540","publishTime":"2023-11-14T22:13:20.000Z"},"subscription":"projects/p/subscriptions/s"}',
      atSeconds: 1700000000,
      settings: {
        audience: "https://hub.example/ingest/src_1",
        requiredClaims: [{ name: "email", value: "push@project.iam.gserviceaccount.com" }],
      },
    },
  },
  paypal: {
    title: "PayPal",
    documentation: "https://developer.paypal.com/api/rest/webhooks/rest/",
    documentedOn: "2026-11-29",
    scheme: "ed25519",
    settings: {
      keyFormat: "certificate",
      encoding: "base64",
      acceptWeak: true,
      signatureHeader: "paypal-transmission-sig",
      signedContent: "{header:paypal-transmission-id}|{header:paypal-transmission-time}|{secret}|{crc32}",
      certificateFrom: { header: "paypal-cert-url" },
      certificateUrls: [
        "https://api.paypal.com/v1/notifications/certs/*",
        "https://api.sandbox.paypal.com/v1/notifications/certs/*",
      ],
      deliveryIdFrom: { header: "paypal-transmission-id" },
      eventTypeFrom: { pointer: "/event_type" },
      answer: { status: 200 },
    },
    secretFrom: "Developer Dashboard → Apps & Credentials → the app → Webhooks → Webhook ID",
    steps: [
      "In the Developer Dashboard open the app and add a webhook with the address of the source.",
      "Pick the event types and save.",
      "Copy the webhook id that PayPal shows into the source as its secret.",
    ],
    notes: [
      "PayPal signs a CRC-32 of the body, which can be forged, so the preset sets `accept_weak`; the id of the transmission is signed and counts once.",
      "The webhook id is part of the signed text, so webhooks of other merchants do not verify.",
      "The simulator of PayPal signs with the webhook id `WEBHOOK_ID` and its webhooks are refused.",
    ],
    retries: "Up to 25 times over three days.",
    vector: {
      made: "computed",
      from: "the recipe of PayPal's documentation",
      secret: "1JE4291016473214C",
      headers: {
        "paypal-transmission-id": "69cd13f0-d67a-11e5-baa3-778b53f4ae55",
        "paypal-transmission-time": "2023-11-14T22:13:20Z",
        "paypal-cert-url": "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-5edc0ebc",
        "paypal-transmission-sig":
          "xf2p/cLrfePny4aywmubeywSm2BivBb2X6UJ+88GXr7T1TioAsJkanU16Qo6D1Pc7oIp5BOiNLAz1Jk2RpFlNMU0iQk2N98xO4PvOYrfOWfJXKqBQVksEQZyGMGltDF4Bt7F/sGsblqYL0siqmTelqZHY4Ayla4dwo7+VqSSMnpYQetXY4jyL4VWrqWQNJKgrnDFLUUiHwdZ+FIAA1hd1Gc6Si9tg4bHxvgoBE10tJv3yYg9ZbKUJ+NyAtwcyAaeus5HwOCYLxuOBZPdu6A4ofWsk4Ssay6vwxZEerpwX/hfLtmnx+NhzwsZJir5zXZJM6/uSU3tJc3DS3Z+AGun5w==",
      },
      body: '{"id":"WH-2WR32451HC0233532-67976317FL4543714","event_type":"PAYMENT.SALE.COMPLETED","resource_type":"sale","resource":{"id":"80021663DE681814L"}}',
      atSeconds: 1795780632,
      certificate:
        "-----BEGIN CERTIFICATE-----\nMIIDEzCCAfugAwIBAgIUe/m4R3D8fWrntXafGro+Vmzs1Z0wDQYJKoZIhvcNAQEL\nBQAwGTEXMBUGA1UEAwwOc2VuZGVyLmV4YW1wbGUwHhcNMjYxMTI2MTEzNzU4WhcN\nNDYxMTIxMTEzNzU4WjAZMRcwFQYDVQQDDA5zZW5kZXIuZXhhbXBsZTCCASIwDQYJ\nKoZIhvcNAQEBBQADggEPADCCAQoCggEBAMqDIjJmoUvT6U0LJQbrceL08mWgQkfo\ngd7H9QA+iSkeXTm4ZwF3tutqKM5DFv/cz2Iq0n1QuX3ztxcgn1xMSkiM48xDDNud\nHz6iG+6txeSyhCyOGO6o4+qWVXpkwrV9otz8ClEfi0bjXHQSDaEcBoomW28tbSzz\n9H5D4AYwbocCn/LcewD0bs35GXoe/B51B/+TCFRrw/MAnlnlv4y9W39DVzElFz+U\nlKfxi98qng/XYH63nxi2PgpFUqvBfvfVrHGixwe3ZfnnKn5dISR0cANgGl6u0+pd\njm0Ut6cLMdyy+mjb2CD6fP26w+C5Q5O6t+8XIJhgyvHX9RL+ocwFlZECAwEAAaNT\nMFEwHQYDVR0OBBYEFOBGBKKmoCUp0pYcSF4kvQye9AyzMB8GA1UdIwQYMBaAFOBG\nBKKmoCUp0pYcSF4kvQye9AyzMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQEL\nBQADggEBACsGfzEGAsi05yxYBLMKy93hT4R2kCk4fHOHsQCJ3ZLzJoBoAqOlPVpV\n5PGbbxUwuzssisrcusqKdx9NLlicy3iYw+/6UZ1QJTDLnamipXmD1QkEYOk2LgwB\niQe3o6cRZ4+5ywpj60YQKEzkCrdkzzK7G8cbbeouh3TGLZn5iFY73vB1HDi3IPoG\nm7tbanNaYZ6pWHTDVxj8whVZJG5TWnRWJjX2K3dIIptP/kkEZ7874IHik4m+PsY2\nNxy5HizqcKHmY8Cl3LGw02dHVWjgRjFrDmiSrbEjnrSUanb3mOYdpEoQi+SIHKUJ\nYozXejkX8/N7VnzqcWH8iBlomqdiD10=\n-----END CERTIFICATE-----\n",
    },
  },
  plaid: {
    title: "Plaid",
    documentation: "https://plaid.com/docs/api/webhooks/webhook-verification/",
    documentedOn: "2026-11-29",
    scheme: "jwt",
    settings: {
      tokenHeader: "plaid-verification",
      tokenFormat: "plain",
      bodyDigestClaim: "request_body_sha256",
      deliveryIdFrom: "digest",
      eventTypeFrom: { pointer: "/webhook_code" },
      answer: { status: 200 },
    },
    secretFrom: 'the keys from `POST /webhook_verification_key/get`, as `{"keys":[…]}`',
    steps: [
      "Give the address of the source as `webhook` in `/link/token/create`, or with `/item/webhook/update`.",
      'Take the `kid` of a `Plaid-Verification` header, read its key with `POST /webhook_verification_key/get`, and create the source with `{"keys":[the key]}` as its secret.',
      "Fire a test with `/sandbox/item/fire_webhook`.",
    ],
    notes: [
      "Plaid gives its keys by API only, one at a time. When it changes them, webhooks are refused with `key_unknown`: add the new key to the set.",
      "Plaid hashes the body with its line breaks and two spaces of indentation, as it sends it.",
    ],
    retries: "For up to 24 hours: first after 30 seconds, then four times as long each time.",
    vector: computed({
      from: "the recipe of Plaid's documentation",
      secret:
        '{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","alg":"ES256","use":"sig","kid":"6c5516e1-92dc-479e-a8ff-5a51992e0001"}]}',
      headers: {
        "plaid-verification":
          "eyJhbGciOiJFUzI1NiIsImtpZCI6IjZjNTUxNmUxLTkyZGMtNDc5ZS1hOGZmLTVhNTE5OTJlMDAwMSIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE3MDAwMDAwMDAsInJlcXVlc3RfYm9keV9zaGEyNTYiOiI1YmY2MDE4ODk2OWNmYWZlZjVjNzMwZmQzZDQxNTY3Yjg0NGFkYjNhZTA3NWQxODVhZjNiMzZhMjIyZjAwYmYwIn0.cEmvhLyeHTvtb0iqTHGtVZFPzXo5jWA3w_KHqm3TmnEbsCgiUR-OCUg5iJ6fSjL1tKoQmCPRm-8cf2j9aZDe4w",
      },
      body: '{\n  "webhook_type": "TRANSACTIONS",\n  "webhook_code": "SYNC_UPDATES_AVAILABLE",\n  "item_id": "wz666MBjYWTp2PDzzggYhM6oWWmBb"\n}',
    }),
  },
  sendgrid: {
    title: "SendGrid",
    documentation:
      "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
    scheme: "ed25519",
    settings: {
      keyFormat: "spki",
      encoding: "base64",
      signatureHeader: "x-twilio-email-event-webhook-signature",
      timestampHeader: "x-twilio-email-event-webhook-timestamp",
      signedContent: "{timestamp}{body}",
      deliveryIdFrom: { pointer: "/0/sg_event_id" },
      repetitionBy: "id_and_content",
      eventTypeFrom: { pointer: "/0/event" },
    },
    secretFrom: "Settings → Mail Settings → Event Webhooks → the webhook → Verification Key",
    steps: [
      "Open Settings → Mail Settings → Event Webhooks and create one.",
      "Enter the address of the source as post URL, switch Signed Event Webhook on and save.",
      "Copy the verification key into the source and send a test.",
    ],
    notes: [
      "The key is the public one, an elliptic curve in base 64.",
      "One webhook holds many events; id and type are those of the first.",
    ],
    retries: "For 24 hours with growing gaps.",
    vector: {
      made: "library",
      from: "the tests of SendGrid's own library, `@sendgrid/eventwebhook`",
      secret:
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==",
      headers: {
        "x-twilio-email-event-webhook-timestamp": "1600112502",
        "x-twilio-email-event-webhook-signature":
          "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=",
      },
      body: '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n',
      atSeconds: 1600112502,
    },
  },
  telnyx: {
    title: "Telnyx",
    documentation: "https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks",
    scheme: "ed25519",
    settings: {
      secretEncoding: "base64",
      encoding: "base64",
      signatureHeader: "telnyx-signature-ed25519",
      timestampHeader: "telnyx-timestamp",
      signedContent: "{timestamp}|{body}",
      deliveryIdFrom: { pointer: "/data/id" },
      eventTypeFrom: { pointer: "/data/event_type" },
    },
    secretFrom: "Mission Control → Keys & Credentials → Public Key",
    steps: [
      "In Mission Control open Keys & Credentials and copy the public key into the source.",
      "Open the messaging profile or the connection and enter the address of the source as webhook URL, for the API version 2.",
      "Send a message as a test.",
    ],
    notes: ["A failover URL gets what the first address refused: give it the same source."],
    retries: "Up to three times to each address.",
    vector: computed({
      from: "the recipe of Telnyx's documentation",
      secret: "Zr5+Myx6RTMyvZ0Kf32wVfXF7xoGraZtmLOftoEMRzo=",
      headers: {
        "telnyx-timestamp": "1700000000",
        "telnyx-signature-ed25519":
          "VvbJ0y1bThxwlORH5tF7IryVs0xsXWSaFP4gqaN34oeU6qkxpV8dkwVa/53ELac9rHfGjKpwTapMtuUIejXODg==",
      },
      body: '{"data":{"event_type":"message.received","id":"b301ed3f-1490-491f-995f-6e64e69674d4","occurred_at":"2019-12-09T20:16:07.588+00:00"}}',
    }),
  },
  wise: {
    title: "Wise",
    documentation: "https://docs.wise.com/guides/developer/webhooks/event-handling",
    documentedOn: "2026-11-29",
    scheme: "ed25519",
    settings: {
      keyFormat: "spki",
      encoding: "base64",
      signatureHeader: "x-signature-sha256",
      signedContent: "{body}",
      deliveryIdFrom: { header: "x-delivery-id" },
      eventTypeFrom: { pointer: "/event_type" },
      forwardedHeaders: ["x-test-notification"],
      answer: { status: 200 },
    },
    secretFrom: "Wise's page about event handling: the public key of sandbox or production",
    steps: [
      "Copy the public key of the environment from Wise's page into the source, in PEM.",
      "Create the subscription with `POST /v3/profiles/{id}/subscriptions` or in Settings → Webhooks, with the address of the source as URL.",
      "Wise sends a test notification.",
    ],
    notes: [
      "The key signs for all customers of Wise: keep the address to yourself, and compare the profile in the body.",
      "The delivery id is a header that is not signed.",
    ],
    retries: "For about two weeks with growing gaps.",
    vector: computed({
      from: "the recipe of Wise's documentation",
      secret:
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyoMiMmahS9PpTQslButx\n4vTyZaBCR+iB3sf1AD6JKR5dObhnAXe262oozkMW/9zPYirSfVC5ffO3FyCfXExK\nSIzjzEMM250fPqIb7q3F5LKELI4Y7qjj6pZVemTCtX2i3PwKUR+LRuNcdBINoRwG\niiZbby1tLPP0fkPgBjBuhwKf8tx7APRuzfkZeh78HnUH/5MIVGvD8wCeWeW/jL1b\nf0NXMSUXP5SUp/GL3yqeD9dgfrefGLY+CkVSq8F+99WscaLHB7dl+ecqfl0hJHRw\nA2AaXq7T6l2ObRS3pwsx3LL6aNvYIPp8/brD4LlDk7q37xcgmGDK8df1Ev6hzAWV\nkQIDAQAB\n-----END PUBLIC KEY-----",
      headers: {
        "x-delivery-id": "d-1",
        "x-signature-sha256":
          "kZ+ERNxxCIBGXWmU0KnauPv42d7NOylhKDRWHefoS/1oGwbFp8s5SBUEIONnXgCOwWufwsoxvsvl9Lx88hI0xhYccU63A9tKVw6OkDMTq30MOYuLr4hSIu1S6imnKduu+xRCRZJCC0Ase2vq0J+PQ1hw2j4WqvUvM1+1FCon4RXgAszIr29h/A1jW/qjuk4sGkotFGCqJNa2c6J0gzXMEX3+rDELWocDV7V15YpEk7zt0KOtMDz0AhmDYDnefGEftqbQzruM/Dae8smqO4+QnJK/hsgaH6qXea3ptXmoT3Gx/nJOe9aFG7COsJWkz5FYrYwFasspb2dgZwEMsBKCCA==",
      },
      body: '{"data":{"resource":{"id":111,"profile_id":222,"type":"transfer"},"current_state":"processing","occurred_at":"2023-11-14T22:13:20Z"},"subscription_id":"01234567-89ab","event_type":"transfers#state-change","schema_version":"2.0.0"}',
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
