import { computed, type Preset } from "./preset.ts";

/** Senders that show a JSON Web Token, signed with a shared secret or in the body. */
export const signedTokens = {
  "app-store": {
    title: "App Store",
    documentation: "https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2",
    documentedOn: "2026-11-30",
    scheme: "jwt",
    settings: {
      tokenFrom: { pointer: "/signedPayload" },
      tokenKey: "certificates",
      certificateOids: ["1.2.840.113635.100.6.11.1", "1.2.840.113635.100.6.2.1"],
      requiresTime: false,
      audienceFrom: [
        { pointer: "/data/bundleId" },
        { pointer: "/summary/bundleId" },
        { pointer: "/externalPurchaseToken/bundleId" },
        { pointer: "/appData/bundleId" },
      ],
      deliveryIdFrom: { pointer: "/notificationUUID" },
      eventTypeFrom: { pointer: "/notificationType" },
      answer: { status: 200 },
    },
    ownerSettings: { audience: "The bundle id of your app." },
    secretFrom:
      "always `63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179`, the SHA-256 fingerprint of Apple Root CA - G3",
    steps: [
      "Create the source with that fingerprint as its secret, and set `audience` to the bundle id of your app.",
      "In App Store Connect open the app's App Information → App Store Server Notifications and enter the address of the source as Production Server URL, with Version 2.",
      "Request a test notification with `POST /inApps/v1/notifications/test` of the App Store Server API.",
    ],
    notes: [
      "The whole notification is a token in the member `signedPayload`, signed with a certificate of Apple's; id and type are its claims `notificationUUID` and `notificationType`.",
      "Apple sends a notification again for a week, so its `signedDate` is not compared with now; the id is signed and counts once.",
      "Notifications of the sandbox verify too: give them a source of their own.",
    ],
    retries: "Five times: 1, 12, 24, 48 and 72 hours after the time before; in the sandbox none.",
    vector: {
      made: "computed",
      from: "the recipe of Apple's documentation, with a root of its own",
      secret: "6ce31db27404c9668cd7e824f63ffbb3b50f6a12f3f8b8fa19fb809589b8f5e1",
      headers: { "content-type": "application/json" },
      body: '{"signedPayload":"eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlCU3pDQ0FQR2dBd0lCQWdJZ0FkekV1aHVnS2RrZnRrWHFzVll3RU81N3o2eHZNaE1tOU9xeW1HQWJXODR3Q2dZSUtvWkl6ajBFQXdJd0ZERVNNQkFHQTFVRUF3d0pZWFYwYUc5eWFYUjVNQ0lZRHpJd01qTXhNVEV6TWpJeE16SXdXaGdQTWpBMU16RXhNRFl5TWpFek1qQmFNQkV4RHpBTkJnTlZCQU1NQm5OcFoyNWxjakJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCSWNOM3RZaGliSU4zdE0zTFZIVU8va0tkYi9mOHhvOVBmTWJaTE9lS0h2NG0zbEpNMWV6VEZudEN1bm1iRXZQdjNNdTNRT3JOVW1GMkdwbyszaVlMdldqRkRBU01CQUdDaXFHU0liM1kyUUdDd0VFQWdVQU1Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lFaCtzSm5nNzhYM3Z4MXBibVJVRlQ5alJCL09iUHZGYXZmOWkzTEgwNGlVQWlFQW80Tm55SHpveWMzYjhkOXRHTEVSQTRVM0VxREhxSElBRmlTYmc2UVdidTQ9IiwiTUlJQlZ6Q0NBUDJnQXdJQkFnSWdBWGI5VUJ1Mmp2Y2ZUaWRyd284cHZPRUFPd3dzblpSNDNvRzF2OERONGVrd0NnWUlLb1pJemowRUF3SXdEekVOTUFzR0ExVUVBd3dFY205dmREQWlHQTh5TURJek1URXhNekl5TVRNeU1Gb1lEekl3TlRNeE1UQTJNakl4TXpJd1dqQVVNUkl3RUFZRFZRUUREQWxoZFhSb2IzSnBkSGt3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVN0d2x3OWdWZi9SbkgvUWozTysvcERJckFpaklBZTlrM0UwaEUydWE3cXdheGkyVHRtSisxcGJPYWxKSzI3bTZzczJqdTIzMWthQ3NZSzdBRElYVnd5b3lJd0lEQU1CZ05WSFJNRUJUQURBUUgvTUJBR0NpcUdTSWIzWTJRR0FnRUVBZ1VBTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSURoU0lRZU1xYzRnSFg3U0pOT01XL3VqVzdWTmszZ0swNU1hZlJWZllBL3RBaUVBZ3RzU2JLTG5QOHZ1S2pYR0JBcG1GVUpRSW8rWnZaUGF1NEdCZjhhZDJHMD0iLCJNSUlCUVRDQ0FPYWdBd0lCQWdJZ0FSTkpUUk4rRmpHN293SFZyS3R1ZTdlcWRNNFJoZFJXVmw3MUhYTjJkN0l3Q2dZSUtvWkl6ajBFQXdJd0R6RU5NQXNHQTFVRUF3d0VjbTl2ZERBaUdBOHlNREl6TVRFeE16SXlNVE15TUZvWUR6SXdOVE14TVRBMk1qSXhNekl3V2pBUE1RMHdDd1lEVlFRRERBUnliMjkwTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFclNZcWxwZ29zVUFwNkRwMTBlSmM2WUUrS1JkQ24zNm1iOGxiUWRZcTNGMDAvTkdJS2p1UmdRRmVNaXFkR2dtaEZsekFjQ3Y2aHV3RGR1bkI0QVNzeTZNUU1BNHdEQVlEVlIwVEJBVXdBd0VCL3pBS0JnZ3Foa2pPUFFRREFnTkpBREJHQWlFQXNTSE1OVWlDR3pDM1NCeTNKYjBsbWpCN3JNVnZUdGJza0luWmgrN3VBaGtDSVFEQjUyMnY4bFhjdTRBTGhJY3E3Vk9wUUlCblByeTlRVUYxb0xMZEtJK3FrZz09Il19.eyJub3RpZmljYXRpb25UeXBlIjoiRElEX1JFTkVXIiwibm90aWZpY2F0aW9uVVVJRCI6IjAwMmUxNGQ1LTUxZjUtNDUwMy1iNWE4LWMzYTFhZjY4ZWIyMCIsInZlcnNpb24iOiIyLjAiLCJzaWduZWREYXRlIjoxNzAwMDAwMDAwMDAwLCJkYXRhIjp7ImJ1bmRsZUlkIjoiY29tLmV4YW1wbGUuaHViIiwiZW52aXJvbm1lbnQiOiJQcm9kdWN0aW9uIn19.ATPasmLVt235Mko8qQjWI98I-FVs1CjqIoONdKbElviikJz2-zIjwFa0uxUx6bdrXDH5GljrVgc5gaz_-D7pPA"}',
      settings: { audience: "com.example.hub" },
      atSeconds: 1_700_000_000,
    },
  },
  "apple-sign-in": {
    title: "Sign in with Apple",
    documentation:
      "https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts",
    documentedOn: "2026-11-29",
    scheme: "jwt",
    settings: {
      tokenFrom: { pointer: "/payload" },
      issuer: "https://appleid.apple.com",
      deliveryIdFrom: { pointer: "/jti" },
      answer: { status: 200 },
    },
    ownerSettings: { audience: "The bundle id or services id of your app, which Apple writes into `aud`." },
    secretFrom: "always `https://appleid.apple.com/auth/keys`, the address of Apple's keys",
    steps: [
      "Create the source with Apple's key address as its secret, and set `audience` to the id of your app.",
      "In Certificates, Identifiers & Profiles open the app's Sign in with Apple capability and enter the address of the source as Server-to-Server Notification Endpoint.",
      "Stop using your Apple account with the app as a test.",
    ],
    notes: [
      "The whole notification is a token in the member `payload`; id and type are its claims `jti` and `events.type`, and signed.",
    ],
    retries: "Not documented.",
    vector: {
      made: "computed",
      from: "the recipe of Apple's documentation",
      secret:
        '{"keys":[{"kty":"RSA","n":"3FBglNOkH9mr6yzrCVnpY-MEF_ct3M-Le_aLNJ-dWVPpp2z5Bo_n5xLC5Ns5cdRwSdksk7AKPOavf6b2X-RNWTHk0YT6ZzQyrTaVDV11WtbmIwEr6lZ8V79XEeR_lUV3gEmh8lZX1Yowe-mYCipSxWqLjeP_F8S9Xc-67mYbyiHli9lWth2C8U4632elOSR2STGeKG3qMs3JQzZEFzoFRwATIBoR2gp30i64ie9jwiVgTG-vnWTdGflVMOoC5FwCrD251yckgXaAnGTdDdVKO7AYU8NFTtTG6fv3HybIfsVSF3PMj-EbvTwSbnmuQcjWBdK8dxWqInOjoVS5Oo9Mlw","e":"AQAB","kid":"86D88Kf","alg":"RS256","use":"sig"}]}',
      headers: { "content-type": "application/json" },
      body: '{"payload":"eyJhbGciOiJSUzI1NiIsImtpZCI6Ijg2RDg4S2YifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIiwiYXVkIjoiY29tLmV4YW1wbGUuaHViIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjE3MDAwODY0MDAsImp0aSI6IkpzTU1uNFQwZ3B6TVJDcThTVWZqVFEiLCJldmVudHMiOiJ7XCJ0eXBlXCI6XCJlbWFpbC1kaXNhYmxlZFwiLFwic3ViXCI6XCI4MjA0MTcuZmFhMzI1YWNiYzc4ZTFiZTE2NjhiYTg1MmQ0OTJkOGEuMDIxOVwiLFwiZW1haWxcIjpcImVwOWtzMnRucGhAcHJpdmF0ZXJlbGF5LmFwcGxlaWQuY29tXCIsXCJldmVudF90aW1lXCI6MTcwMDAwMDAwMDAwMH0ifQ.b3HqWASTsl3ShDvWNKL2u42f8sNvQJwEmikIAJ5fcydBWi9x0uDX9PhdlT8mf3FlsFGxDNmh5EdoaWkNyCnv-V1AQ4R9cosJ7zsmIcbMi8GixkBbmHHprzGb6DkTXxTD8W9CpAwqsbDBB8feX49uI1M6FWpYb2GQcEwfhLDNLJ6wEFMStW5z3tn9tmjCNQgmUfE7YnUyFqG25_RrJVn0nb6Kv6C3VvEw9zWOzrxCzM7fTXy6aeSzHV11UTMNiDMYqsUGajAWo1oE8nSh3muNTkmyu1XAQbDuBCEu3ub93SG0B7rIVB7cUAfyNyI4xYtt3cwZxMaCJoTz8IR9-P_nvA"}',
      settings: { audience: "com.example.hub" },
      atSeconds: 1_700_000_000,
    },
  },
  netlify: {
    title: "Netlify",
    documentation: "https://docs.netlify.com/deploy/deploy-notifications/#payload-signature",
    documentedOn: "2026-11-29",
    scheme: "jwt",
    settings: {
      tokenHeader: "x-webhook-signature",
      tokenFormat: "plain",
      tokenKey: "secret",
      requiresTime: false,
      issuer: "netlify",
      bodyDigestClaim: "sha256",
      deliveryIdFrom: "digest",
      eventTypeFrom: [{ header: "x-netlify-event" }, { pointer: "/state" }],
      acceptShortSecret: true,
      answer: { status: 200 },
    },
    secretFrom: "the notification → JWS secret token, which you choose",
    steps: [
      "Open Project configuration → Notifications → Emails and webhooks → Deploy notifications and add an HTTP POST request.",
      "Enter the address of the source and, as JWS secret token, the source's secret.",
      "Deploy once as a test.",
    ],
    notes: [
      "The token has the SHA-256 of the body and no time: the same body counts once in five minutes (`refuse_same_content_seconds`).",
      "A deploy's `id` comes with each of its states, so it is not a delivery id.",
    ],
    retries: "A few times; a notification that fails six times in a row is disabled.",
    vector: computed({
      from: "the recipe of Netlify's documentation",
      secret: "a JWS secret of netlify",
      headers: {
        "x-webhook-signature":
          "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJuZXRsaWZ5Iiwic2hhMjU2IjoiZGM5ZmNjNzY5NDQwNTgwYzEzMjc5ZWMyYWUwMWNiYWYxMDUxZTQyNjA3ZDNmNWYzMTVkMDEwZmNlMmE1NGU1ZCJ9.AFHQfVQmZchGL7hW3Rb6COgjEqK58Q1W7DR-B_IxKIY",
      },
      body: '{"id":"5b243e66dd6a547b4fee73ae","state":"ready","name":"hub","context":"production"}',
    }),
  },
  vonage: {
    title: "Vonage",
    documentation: "https://developer.vonage.com/en/getting-started/concepts/webhooks",
    documentedOn: "2026-11-29",
    scheme: "jwt",
    settings: {
      tokenKey: "secret",
      issuer: "Vonage",
      bodyDigestClaim: "payload_hash",
      deliveryIdFrom: "digest",
      eventTypeFrom: [{ pointer: "/status" }, { pointer: "/message_type" }, { pointer: "/channel" }],
      answer: { status: 200 },
    },
    secretFrom: "Dashboard → Settings → API settings → Signature secret",
    steps: [
      "In the dashboard open the settings and copy the signature secret into the source.",
      "Open the application and enter the address of the source as webhook URL, with the method POST.",
      "Send a message as a test.",
    ],
    notes: [
      "The token in `Authorization` has the SHA-256 of the body and its time; `message_uuid` names the message, of which several webhooks report.",
      "For an account with several API keys each has a signature secret of its own.",
      "The older SMS API signs its parameters instead, without a token, and is not read by this preset.",
    ],
    retries: "With growing gaps for up to 24 hours.",
    vector: computed({
      from: "the recipe of Vonage's documentation",
      secret: "a signature secret of vonage",
      headers: {
        authorization:
          "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE3MDAwMDAwMDAsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmRmLTNmYmU4Y2U1MTFiNSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6ImM5M2Y4YzA2MGM4Mzg2NGQ1ODI0ZWVhN2JiYjg2OTM4OWIzZjBhZDExOThlMjBlNjgwZTMxYTBhNWM1ZmFhYzEiLCJhcGlfa2V5IjoiYTFiMmMzZDQiLCJhcHBsaWNhdGlvbl9pZCI6ImFhYWFhYWFhLWJiYmItNGNjYy04ZGRkLTAxMjM0NTY3ODlhYiJ9.qLJ1DRmU13g-XdL9jnAVgeJOVPOwLqH8H9KHAM42RGY",
      },
      body: '{"message_uuid":"aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab","to":"447700900000","from":"447700900001","channel":"sms","text":"Hello"}',
    }),
  },
} satisfies Readonly<Record<string, Preset>>;
