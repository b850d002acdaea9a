// Made by `npm run generate` from the OpenAPI documents of all services.

export interface paths {
    "/api/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the account */
        get: operations["viewer"];
        /**
         * Replace the account's writable members
         * @description An absent `contact_address` is cleared; any other absent member is refused.
         */
        put: operations["replaceAccount"];
        post?: never;
        /**
         * Delete the account
         * @description Every credential stops working at once. An administrator can undo it until the personal data is erased.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        /**
         * Change the account
         * @description A merge patch: absent members stay, null clears `contact_address`, unless it is the last login method of the account (409).
         */
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/api/account/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the account's API keys, newest first */
        get: operations["apiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The answer shows the key once. Repeat the request with its `Idempotency-Key` to read it again.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an API key, without the key itself */
        get: operations["apiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description The key stops working everywhere within two seconds. Revoking it again changes nothing. If credentials that it created are still live, 200 returns their number.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        /**
         * Rename an API key
         * @description A new name needs a recent sign-in; the same name changes nothing.
         */
        patch: operations["renameApiKey"];
        trace?: never;
    };
    "/api/account/api-keys/{key_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace an API key
         * @description Creates a key with the same name, scopes and lifetime, and shows it once. The old one works until the overlap ends. `If-Match` refers to the old one.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the changes and refusals of the account, newest first */
        get: operations["auditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the account's service clients, newest first */
        get: operations["serviceClients"];
        put?: never;
        /**
         * Create a service client
         * @description The answer shows the secret once. With it the client gets access tokens at `/oauth/token` (`client_credentials`).
         */
        post: operations["createServiceClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/clients/{client_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a service client, without its secret */
        get: operations["serviceClient"];
        put?: never;
        post?: never;
        /**
         * Revoke a service client
         * @description Its tokens stop working everywhere within two seconds. Revoking it again changes nothing. If credentials that it created are still live, 200 returns their number.
         */
        delete: operations["revokeServiceClient"];
        options?: never;
        head?: never;
        /**
         * Rename a service client
         * @description A new name needs a recent sign-in; the same name changes nothing.
         */
        patch: operations["renameServiceClient"];
        trace?: never;
    };
    "/api/account/clients/{client_id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a service client another secret
         * @description Requires every scope of the client, because the answer shows the secret, once. The old one keeps working for `overlap_seconds`; until then another rotation is 409, unless its `overlap_seconds` is 0, which ends every older secret at once.
         */
        post: operations["rotateServiceClientSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/contact-change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Cancel the change of the contact address
         * @description Drops the pending address. The one in use stays. Does nothing when no address is pending.
         */
        delete: operations["cancelContactChange"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/contact-change/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm the pending contact address
         * @description With the code that was mailed to it, which takes five tries, works once and expires after one hour. A pending account becomes active. An address that another account has verified is 409, `address_taken`.
         */
        post: operations["confirmContactAddress"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/contact-change/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send another code to the pending contact address
         * @description Ends the earlier codes. At most five an hour.
         */
        post: operations["resendContactCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/contact-links/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page behind a link from a mail about the contact address */
        get: operations["contactLink"];
        put?: never;
        /** Use the link: object to the change */
        post: operations["followContactLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/current-api-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke the API key that this request came with
         * @description For a leaked key. Needs no scope. Any other credential is 404.
         */
        delete: operations["revokeCurrentApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all data of the account
         * @description A JSON document, sent while it is read. Its last member is `complete`.
         */
        get: operations["accountExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the logins of the account, the oldest first */
        get: operations["identities"];
        put?: never;
        /**
         * Add another login to the account
         * @description The other login must not have an account. A login that was used before has one, which must be deleted first. Adding the same login again answers 200.
         */
        post: operations["linkIdentity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/identities/{identity_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a login of the account */
        get: operations["identity"];
        put?: never;
        post?: never;
        /**
         * Remove a login from the account
         * @description The last login method of the account cannot be removed. Within two seconds the tokens of the login no longer act for this account.
         */
        delete: operations["unlinkIdentity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/recovery": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask to have the disabled account back
         * @description Administrators see the request. Asking again changes nothing.
         */
        post: operations["requestAccountRecovery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the account's settings */
        get: operations["accountSettings"];
        /** Replace the account's settings */
        put: operations["replaceAccountSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the account's settings
         * @description A merge patch: absent members stay, inside `notifications` too.
         */
        patch: operations["updateAccountSettings"];
        trace?: never;
    };
    "/api/account/sign-ins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the account's sign-ins at the built-in issuer, newest first
         * @description Those of which anything is good: the browser's session, a refresh token or an access token.
         */
        get: operations["signIns"];
        put?: never;
        post?: never;
        /**
         * Sign out everywhere
         * @description Ends every sign-in at the built-in issuer with its tokens, in every service within two seconds, and every step-up by code. Tokens of another issuer that were issued until now are refused from then on; sessions there end there. API keys and service clients stay. Needs no recent sign-in.
         */
        delete: operations["signOutEverywhere"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/sign-ins/{sign_in_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a sign-in
         * @description Ends the session of the browser and the tokens of every application that it signed in to, in every service within two seconds. The caller's own sign-in can be ended too.
         */
        delete: operations["endSignIn"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable the account
         * @description Only an administrator can make it active again; `POST /api/account/recovery/` asks for that.
         */
        post: operations["disableAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/account/step-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prove again who you are, with a code sent to the contact address
         * @description Without `code`, one is sent to the verified contact address. With it, this token counts as freshly signed in for 15 minutes, in every service. For tokens of people. At most five codes and 25 tries an hour for all tokens of an account.
         */
        post: operations["stepUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List accounts, newest first */
        get: operations["accounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/{account_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an account */
        get: operations["account"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the roles of an account
         * @description Grants and revokes roles. A change needs a recent sign-in, and every scope of the granted roles. The only administrator keeps the role (409).
         */
        patch: operations["setAccountRoles"];
        trace?: never;
    };
    "/api/accounts/{account_id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the changes and refusals of an account, newest first */
        get: operations["accountAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/{account_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the status of an account
         * @description A deletion needs a recent sign-in. It can be undone until the personal data is erased.
         */
        post: operations["setAccountStatus"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/accounts/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the changes and refusals of all accounts, newest first */
        get: operations["accountsAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the account's settings */
        get: operations["settings"];
        /** Replace the account's settings */
        put: operations["replaceSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the account's settings
         * @description A merge patch: absent members stay, inside `notifications` too.
         */
        patch: operations["updateSettings"];
        trace?: never;
    };
    "/api/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read limits, capabilities and features */
        get: operations["configuration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow changes of configuration, settings and flags
         * @description Server-Sent Events `config`, `settings` and `flags` with the changed names and their values. Ids are revisions: with Last-Event-ID missed events are sent first, or `reset` when they are no longer kept.
         */
        get: operations["configurationStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/env": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read metadata of the deployment */
        get: operations["environment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what every instance runs with */
        get: operations["configurationStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List attempts, newest first */
        get: operations["webhookAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries, newest first */
        get: operations["webhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a delivery */
        get: operations["webhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Attempt a delivery once more, now
         * @description Attempts a delivery that has ended, with any result, or that waits for its next attempt. An exhausted delivery gets one more attempt. It keeps its `X-Delivery-Id`; while its endpoint is paused or disabled it is held.
         */
        post: operations["retryWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List endpoints, newest first */
        get: operations["webhookEndpoints"];
        put?: never;
        /**
         * Create an endpoint
         * @description The answer shows the secret, once. The endpoint gets the events committed from now on. `scope: all` requires `account:admin`.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an endpoint */
        get: operations["webhookEndpoint"];
        put?: never;
        post?: never;
        /** Delete an endpoint with its deliveries */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        /** Update an endpoint */
        patch: operations["updateWebhookEndpoint"];
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable a disabled endpoint, held deliveries first */
        post: operations["enableWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause an endpoint and hold its deliveries */
        post: operations["pauseWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a paused endpoint, held deliveries first */
        post: operations["resumeWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/secret/previous": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End the overlap of rotations: only the newest secret signs */
        delete: operations["deletePreviousWebhookEndpointSecrets"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/secret/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show the secret */
        post: operations["revealWebhookEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the endpoint a new secret
         * @description Deliveries carry the signatures of all live secrets, five at most, until the overlap of each rotation has ended.
         */
        post: operations["rotateWebhookEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/endpoints/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event now, and see what comes back
         * @description Posts `webhook_endpoint.test` once, with the endpoint as its data, at any status of the endpoint. The answer is the attempt, even a failed one.
         */
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/event-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the event types that endpoints can subscribe to, by name */
        get: operations["webhookEventTypes"];
        put?: never;
        /** Declare a type of events that the account publishes */
        post: operations["createWebhookEventType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/event-types/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an event type of the account */
        get: operations["webhookEventType"];
        put?: never;
        post?: never;
        /** Delete a type; its events may still be published */
        delete: operations["deleteWebhookEventType"];
        options?: never;
        head?: never;
        /** Update a type; a schema is replaced as a whole */
        patch: operations["updateWebhookEventType"];
        trace?: never;
    };
    "/api/v1/webhooks/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events with their bodies, newest first
         * @description Recovers deliveries that the receiver has lost: the bodies are those that were signed.
         */
        get: operations["webhookEvents"];
        put?: never;
        /**
         * Publish events of your own to your endpoints
         * @description One event, or up to 100: all are accepted or none. Accepted events are stored. The same id with the same content is accepted again without a second delivery; with different content it is refused with 409.
         */
        post: operations["publishWebhookEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an event with its body */
        get: operations["webhookEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the public keys of an account, newest first
         * @description For receivers of `v1a` signatures: any of these keys may sign the next delivery. `account_id` is in the body of every delivery. An account without such signatures has no keys.
         */
        get: operations["webhookSigningKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/keys/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the account a new signing key
         * @description The previous keys sign beside it until their overlaps end; at most five are live.
         */
        post: operations["rotateWebhookSigningKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List replays, newest first */
        get: operations["webhookReplays"];
        put?: never;
        /**
         * Replay deliveries that succeeded, were exhausted or parked
         * @description Up to 1,000,000 deliveries of one endpoint, the oldest first, under their own ids. With `dry_run` they are only counted. One replay of an endpoint runs at a time.
         */
        post: operations["startWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/replays/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a replay and its progress */
        get: operations["webhookReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/replays/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a replay; deliveries already queued go out */
        post: operations["cancelWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sources, newest first */
        get: operations["webhookSources"];
        put?: never;
        /** Create a source */
        post: operations["createWebhookSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a source */
        get: operations["webhookSource"];
        put?: never;
        post?: never;
        /** Delete a source with what it received */
        delete: operations["deleteWebhookSource"];
        options?: never;
        head?: never;
        /** Update a source */
        patch: operations["updateWebhookSource"];
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhooks that were received, newest first */
        get: operations["receivedWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/received/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook that was received, with its headers */
        get: operations["receivedWebhook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/received/{ref}/body": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the bytes of a webhook as they were signed */
        get: operations["receivedWebhookBody"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/rejections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List refused webhooks with the reason, newest first */
        get: operations["rejectedWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/rejections/{rejection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a refused webhook with its headers and body, if they are kept */
        get: operations["rejectedWebhook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/rejections/{rejection_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a refused webhook again
         * @description Verifies it with the current secrets and settings, at the time of its arrival. An accepted webhook is received like any other, once.
         */
        post: operations["retryWebhookRejection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the replays of a source, newest first */
        get: operations["receivedWebhookReplays"];
        put?: never;
        /**
         * Publish received webhooks again
         * @description Publishes them in the order of their arrival, with `replay_of` in their events. Endpoints get them as new events; a dry run counts them.
         */
        post: operations["createReceivedWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/replays/{replay_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a replay and its progress */
        get: operations["receivedWebhookReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/replays/{replay_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay
         * @description Webhooks that are already published stay published.
         */
        post: operations["cancelReceivedWebhookReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/rotate-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a source another address
         * @description The present address is accepted until the overlap ends, by default a day. At most ~three addresses are accepted at once.
         */
        post: operations["rotateWebhookSourceUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a source its partner's next secret
         * @description Until the overlap ends the present secret verifies too. At most three secrets verify at once.
         */
        post: operations["rotateWebhookSourceSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/sources/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain the outcome of a webhook
         * @description Shows the failed step and its expectation. Nothing is received, and no signature is shown.
         */
        post: operations["verifyWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read server settings
         * @description Anonymous callers get server, locale and limits.
         */
        get: operations["serverSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asyncapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the AsyncAPI document of all events */
        get: operations["asyncApiDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read about all routes, and try them */
        get: operations["apiReference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the meaning of the error codes */
        get: operations["errorCodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/reader.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The program of the page at /docs */
        get: operations["apiReferenceReader"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/graphql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Run a query */
        get: operations["runQuery"];
        put?: never;
        /** Run an operation */
        post: operations["runOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/graphql/assets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a file of the page at /graphql */
        get: operations["graphiqlAsset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List images, newest first */
        get: operations["images"];
        put?: never;
        /**
         * Upload an image
         * @description `multipart/form-data` with the part `file`; or JSON with `source_url`, which equals an import, or with the `sha256` of an original that the account has already.
         */
        post: operations["uploadImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/{image_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an image record */
        get: operations["image"];
        /**
         * Replace an image's description
         * @description Absent texts become null and absent tags none; `visibility` and `focal_point` stay when absent.
         */
        put: operations["replaceImage"];
        post?: never;
        /**
         * Delete an image
         * @description The record is removed immediately; copies of public content live until their cache lifetime ends.
         */
        delete: operations["deleteImage"];
        options?: never;
        head?: never;
        /**
         * Change an image record
         * @description A merge patch: absent members stay, null clears. The bytes never change.
         */
        patch: operations["updateImage"];
        trace?: never;
    };
    "/images/{image_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an image
         * @description Always a re-encode: oriented, in sRGB, without metadata. Public images need no credentials. The validator is computed without the bytes.
         */
        get: operations["imageContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/{image_id}/original": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the original
         * @description The file as it was uploaded, metadata included; for its owner, and never shown inline.
         */
        get: operations["imageOriginal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/{image_id}/reprocess": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make the named variants again
         * @description A failed image starts again. Another one keeps its status, and only missing variants are made.
         */
        post: operations["reprocessImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/{image_id}/signed-urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign a URL of an image
         * @description Everyone with the URL sees the image in exactly this form until it expires. Within a window of at most a quarter of its life the same request gives the same URL, so that caches share it.
         */
        post: operations["createSignedImageUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/deletions/{image_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the receipt of a deletion
         * @description What was erased, how many bytes and when, and what stayed because another image of the account needs it.
         */
        get: operations["imageDeletion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Import an image from a URL */
        post: operations["importImage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/signing-keys/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign URLs with a new key
         * @description URLs of the current key stay valid until they expire or the next rotation; those of the previous key end now. Rotate twice to end all immediately.
         */
        post: operations["rotateImageSigningKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Announce a file, to be sent straight to the store
         * @description The answer says how to send it. Then complete the upload, which makes the image.
         */
        post: operations["createImageUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/images/uploads/{upload_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what has arrived of an upload
         * @description Where the file is sent to this service, `Upload-Offset` is the offset of the next piece; HEAD is enough for that.
         */
        get: operations["imageUpload"];
        put?: never;
        post?: never;
        /**
         * Cancel an upload
         * @description Its bytes are removed. An upload that has ended already stays as it is.
         */
        delete: operations["cancelImageUpload"];
        options?: never;
        head?: never;
        /**
         * Send a piece of an upload
         * @description The file or a part of it, starting at `Upload-Offset`. After a broken connection the received bytes are kept: read the offset with HEAD and send the rest.
         */
        patch: operations["appendToImageUpload"];
        trace?: never;
    };
    "/images/uploads/{upload_id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create the image of an upload
         * @description The bytes are checked like those of any other upload. A refused upload may be completed again with other bytes until it expires; 200 is the image of an upload that was completed before.
         */
        post: operations["completeImageUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ingest/{source_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Answer a sender's verification request
         * @description The requests of Meta (`hub.challenge`) and Dropbox (`challenge`), for a source with that `handshake`.
         */
        get: operations["webhookHandshake"];
        put?: never;
        /**
         * Receive a webhook from a partner
         * @description 202 means that the delivery is stored. A repetition is answered 202 again and has no second effect.
         */
        post: operations["receiveWebhook"];
        delete?: never;
        /**
         * Answer a CloudEvents sender that asks for permission
         * @description The request of the CloudEvents specification for webhooks, for a source with the `handshake` cloudevents.
         */
        options: operations["confirmWebhookOrigin"];
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ofrep/v1/evaluate/flags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate every flag
         * @description OFREP 0.3. A matching If-None-Match answers 304 without an evaluation.
         */
        post: operations["evaluateFlags"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ofrep/v1/evaluate/flags/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate a flag
         * @description OFREP 0.3. The targeting key is your own account; callers with config:read may name another one.
         */
        post: operations["evaluateFlag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schema.graphql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the schema of the graph */
        get: operations["graphqlSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        __schema0: unknown;
        /** @description An account, as its owner sees it. */
        Account: {
            /** @description The verified address, or null. */
            contact_address: string | null;
            contact_address_verified: boolean;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            display_name: string;
            /** @description The account. Opaque. */
            id: string;
            /** @description Paths of related resources. */
            links: {
                api_keys: string;
                self: string;
                settings: string;
            };
            locale: string;
            /** @description A new address that is not confirmed yet. */
            pending_contact_address: string | null;
            /** @enum {string} */
            status: "pending" | "active" | "suspended" | "disabled" | "deleted";
            /** @description An IANA time zone. */
            timezone: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
        };
        /** @description All data of an account, without secrets and the bytes of images. */
        AccountExport: {
            account: components["schemas"]["Account"];
            api_keys: components["schemas"]["ApiKey"][];
            audit: components["schemas"]["AuditEntry"][];
            /**
             * @description The last member. Without it the document is truncated.
             * @constant
             */
            complete: true;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            exported_at: string;
            identities: components["schemas"]["ExportedLogin"][];
            images?: components["schemas"]["Image"][];
            /** @description Sections whose service this deployment does not have. */
            left_out: string[];
            service_clients: components["schemas"]["ServiceClient"][];
            settings: components["schemas"]["AccountSettings"];
            sign_ins: components["schemas"]["ExportedSignIn"][];
            webhook_endpoints?: components["schemas"]["WebhookEndpoint"][];
            webhook_sources?: components["schemas"]["WebhookSource"][];
        };
        /** @description The settings of an account. */
        AccountSettings: {
            links: {
                account: string;
                self: string;
            };
            locale: string;
            notifications: {
                product_updates: boolean;
            };
            timezone: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
        };
        /** @description An account, as administrators see it. */
        AdministeredAccount: {
            /** @description The verified address, or null. */
            contact_address: string | null;
            contact_address_verified: boolean;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            display_name: string;
            /** @description The account. Opaque. */
            id: string;
            links: {
                audit: string;
                self: string;
                status: string;
            };
            locale: string;
            /** @description A new address that is not confirmed yet. */
            pending_contact_address: string | null;
            /** @description Time at which the personal fields were erased. The rest is a tombstone. */
            purged_at: string | null;
            /** @description Time at which the owner requested the recovery of the disabled account; null without a request. */
            recovery_requested_at: string | null;
            /** @description Roles of the account at the built-in issuer. Tokens of another issuer bring their own. */
            roles: ("viewer" | "owner" | "operator" | "admin")[];
            /** @enum {string} */
            status: "pending" | "active" | "suspended" | "disabled" | "deleted";
            /** @description Time of the last change of status; null before the first. */
            status_changed_at: string | null;
            status_changed_by: ("owner" | "administrator" | "system") | null;
            /** @description The stated reason. */
            status_reason: string | null;
            /** @description An IANA time zone. */
            timezone: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
        };
        /** @description An API key, without its secret. */
        ApiKey: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The API key that created it, `person` or `first-key`; null if unknown. */
            created_by?: string | null;
            expires_at: string | null;
            /** @description The first characters of the key, enough to recognise it. */
            hint: string;
            /** @description The key. Opaque. */
            id: string;
            /** @description To the minute. */
            last_used_at: string | null;
            name: string;
            replaced_by: string | null;
            replaces: string | null;
            revoked_at: string | null;
            roles: ("viewer" | "owner" | "operator" | "admin")[];
            scopes: ("account:read" | "account:write" | "account:security" | "account:admin" | "images:read" | "images:write" | "config:read" | "config:admin" | "env:read" | "webhooks:read" | "webhooks:write" | "events:publish" | "management:read")[];
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
        };
        /** @description An action on an account, or its refusal: actor, time and reason. */
        AuditEntry: {
            /** @description The account in whose audit it is kept. Opaque. */
            account_id: string;
            /** @description The action, such as `account.update`, or the refused operation. */
            action: string;
            actor: {
                /** @description The account that acted; null for the product itself. */
                account_id: string | null;
                /** @description The client address of the request, if known and visible to you. */
                address: string | null;
                /** @description The id of the key or token; null if you may not see it. */
                credential: string | null;
                /** @enum {string} */
                kind: "owner" | "administrator" | "system";
            };
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description Names of the changed or faulty fields, never values. */
            fields: string[];
            /** @description The entry. Opaque. */
            id: string;
            /** @enum {string} */
            outcome: "done" | "refused";
            /** @description The stated reason, or the code of the refusal. */
            reason: string | null;
            request_id: string | null;
            /** @description The id of the key, client, login, token, image, source, endpoint or property; null for the account itself. */
            subject: string | null;
        };
        /** @description Server limits and features for clients. Every limit here is the enforced one. */
        Config: {
            /** @constant */
            apiVersion: "v1";
            /** Format: uri */
            baseUrl: string;
            /** @description A function is supported when it is here and true. */
            capabilities: {
                [key: string]: boolean;
            };
            defaults: {
                locale: string;
                pageSize: number;
            };
            features: {
                [key: string]: "enabled" | "disabled" | "preview" | "deprecated";
            };
            limits: {
                maxImagePixels: number;
                maxImageSide: number;
                maxPageSize: number;
                maxRequestBytes: number;
                maxUploadBytes: number;
                maxWebhookBytes: number;
                requestTimeoutSeconds: number;
            };
            supported: {
                imageTypes: string[];
                locales: string[];
            };
        };
        /** @description The resolved configuration's state, never its values. */
        ConfigStatus: {
            /** Format: date-time */
            loaded_at: string;
            pending_restart: string[];
            revision: string;
            services: {
                /**
                 * Format: date-time
                 * @description When it applied its revision.
                 */
                applied_at: string;
                instance: string;
                /** @description Seconds since the first revision that it has not applied; 0 when it has the newest. */
                lag_seconds: number;
                /** @description Seconds since it last reported. */
                last_seen_seconds: number;
                name: string;
                revision: string;
            }[];
            /** @description Where values come from, highest precedence first. */
            sources: string[];
            /** @description Expired flags: a decision about them is due. */
            stale_flags: string[];
            /**
             * @description `degraded` when an instance refused a value or the instances disagree.
             * @enum {string}
             */
            status: "ok" | "degraded";
            validation: {
                /** @description Refused overrides with the reason, and names instances disagree on; never a value. */
                problems: string[];
                valid: boolean;
            };
        };
        CreateReceivedWebhookReplay: {
            /**
             * @description Counts the webhooks and publishes nothing.
             * @default false
             */
            dry_run?: boolean;
            /** @description Types of the webhooks between the times, each a name or a prefix that ends in `*`. */
            event_types?: string[];
            /**
             * Format: date-time
             * @description Instead of ids: webhooks received at this time or later.
             */
            from?: string;
            /** @description The received webhooks to publish again. */
            ids?: string[];
            /**
             * @description Webhooks published per second.
             * @default 100
             */
            rate?: number;
            /**
             * Format: date-time
             * @description Webhooks received before this time. Default: now.
             */
            to?: string;
        } | unknown | unknown;
        CreateWebhookEndpoint: {
            /** @default null */
            description?: string | null;
            /** @description Names of events, or prefixes that end in `*`. */
            event_types: string[];
            /**
             * @description `all`, for operators only: also the service's events about every other account. It cannot be changed.
             * @default account
             * @enum {string}
             */
            scope?: "account" | "all";
            settings?: {
                api_version?: "v1" | null;
                /** @description PEM without a passphrase. The key is never shown. */
                client_certificate?: {
                    certificate: string;
                    key: string;
                } | null;
                filter?: {
                    [key: string]: unknown;
                } | null;
                format?: ("envelope" | "original") | null;
                headers?: {
                    name: string;
                    /** @default false */
                    secret?: boolean;
                    /** @default null */
                    value?: string | null;
                }[] | null;
                max_in_flight?: number | null;
                metadata?: {
                    [key: string]: string | null;
                } | null;
                order_hold_seconds?: number | null;
                /** @description One delivery at a time for each subject, in the order of its events. */
                ordered?: boolean | null;
                /** @description Attempts per time, over all processes, evenly spread. */
                rate?: {
                    limit: number;
                    per_seconds: number;
                } | null;
                retry_schedule_seconds?: number[] | null;
                signatures?: ("stripe" | "github" | "v1a")[] | null;
                timeout_seconds?: number | null;
            };
            /** @description URL that deliveries are posted to: https, on a public address. */
            url: string;
        };
        CreateWebhookEventType: {
            /** @default null */
            description?: string | null;
            /**
             * @default off
             * @enum {string}
             */
            enforcement?: "off" | "warn" | "block";
            name: string;
            /** @default null */
            schema?: {
                [key: string]: unknown;
            } | null;
        };
        CreateWebhookSource: {
            /**
             * @description Accepted types of the partner, each a name or a prefix that ends in `*`; null accepts every type.
             * @default null
             */
            event_types?: string[] | null;
            /**
             * @description Forwards accepted webhooks to the account's endpoints.
             * @default true
             */
            forward?: boolean;
            /** @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words. */
            name: string;
            /**
             * @description Known sender with its scheme and settings; `settings` override them.
             * @enum {string}
             */
            preset?: "calendly" | "discord" | "dropbox" | "gitlab" | "hubspot" | "linear" | "meta" | "microsoft-graph" | "paddle" | "pagerduty" | "sentry" | "square" | "telegram" | "typeform" | "zendesk" | "zoom";
            /**
             * @description Signature scheme of the partner. Default: the preset's.
             * @enum {string}
             */
            scheme?: "standard-webhooks" | "stripe" | "github" | "slack" | "shopify" | "hmac" | "ed25519" | "token" | "jwt";
            /** @description Secret that the partner signs with. Write-only. */
            secret: string;
            /** @description Differences of the sender from its scheme. A setting of another scheme is refused. */
            settings?: {
                accept_weak?: boolean;
                /**
                 * @description sha1 needs `accept_weak`.
                 * @enum {string}
                 */
                algorithm?: "sha256" | "sha512" | "sha1";
                answer?: {
                    body?: string;
                    content_type?: string;
                    status: 200 | 202 | 204;
                };
                /** @description Audience that must be among the `aud` of a token. */
                audience?: string | null;
                /** @description Claim with the SHA-256 of the body, if the tokens have one. */
                body_digest_claim?: string | null;
                /**
                 * @description Encoding of that digest.
                 * @enum {string}
                 */
                body_digest_encoding?: "hex" | "base64" | "base64url";
                /** @description Place of the delivery id, instead of the scheme's own. */
                delivery_id_from?: "digest" | {
                    header: string;
                } | {
                    pointer: string;
                };
                delivery_id_header?: string;
                /**
                 * @description Encoding of a signature.
                 * @enum {string}
                 */
                encoding?: "hex" | "base64" | "base64url";
                /** @description Place of the event type, instead of the scheme's own. */
                event_type_from?: {
                    header: string;
                } | {
                    pointer: string;
                };
                event_type_header?: string;
                forwarded_headers?: string[];
                /**
                 * @description Kind of the sender's verification request.
                 * @enum {string}
                 */
                handshake?: "meta" | "dropbox" | "microsoft-graph" | "cloudevents" | "slack" | "zoom" | "discord";
                /** @description Required `iss` of the sender's tokens. */
                issuer?: string | null;
                /** @description Keeps refused webhooks, so that they can be read and retried. */
                keep_rejected_bodies?: boolean;
                max_body_bytes?: number;
                /** @description Names of the members of a signature header such as `t=…,v1=…`. */
                pairs?: {
                    /**
                     * @default ,
                     * @enum {string}
                     */
                    separator?: "," | ";" | " " | "&";
                    signature_key: string;
                    /** @default null */
                    time_key?: string | null;
                } | null;
                previous_signature_header?: string | null;
                /**
                 * Format: uri
                 * @description URL that the sender signs, if it differs from `http.base-url` with the source's path.
                 */
                public_url?: string;
                /** @description Webhooks accepted per second; more are answered 429. */
                rate?: number;
                refuse_same_content_seconds?: number;
                /**
                 * @description Encoding of the key's bytes in the secret.
                 * @enum {string}
                 */
                secret_encoding?: "utf8" | "hex" | "base64";
                signature_header?: string;
                /** @enum {string} */
                signature_over?: "wire" | "decoded";
                /** @description Prefix of each signature in its header. */
                signature_prefix?: string;
                /** @description Separator of several signatures in one header; null when there is only one. */
                signature_separator?: ("," | ";" | " ") | null;
                /** @description Template of the signed text, with {timestamp}, {id}, {body}, {method}, {url} and {header:name}. {body} is required. */
                signed_content?: string;
                /**
                 * @description Unit of the signed time.
                 * @enum {string}
                 */
                time_unit?: "s" | "ms" | "rfc3339";
                /** @description Place of the signed time in the body, for senders that write it there. */
                timestamp_from?: {
                    pointer: string;
                } | null;
                timestamp_header?: string;
                /**
                 * @description `plain`: the header is the secret; `bearer`: the secret follows `Bearer`; `basic`: the secret is `user:password`.
                 * @enum {string}
                 */
                token_format?: "plain" | "bearer" | "basic";
                /** @description Place of the token in the body; every item of a list on the way must hold it. Headers then do not count. */
                token_from?: {
                    pointer: string;
                } | null;
                token_header?: string;
                tolerance_seconds?: number;
            };
            /** @default null */
            verify_token?: string | null;
        } | unknown | unknown;
        CustomEvent: {
            /**
             * Format: date-time
             * @description Time of the event. Default: now.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at?: string;
            /** @description A JSON object, delivered unchanged. */
            data: {
                [key: string]: unknown;
            };
            /** @description Your own id makes the publication safe to repeat. Default: a new id. */
            id?: string;
            /** @description Subject of the event, such as an order number. */
            subject?: string;
            /** @description Name of your event type: two to five words with dots between them. */
            type: string;
        };
        /** @description Permitted metadata about the deployment. */
        Environment: {
            /** @description Effective values; sensitive ones are shown as ******. */
            configuration: {
                [key: string]: components["schemas"]["__schema0"];
            };
            deployment: {
                commit: string | null;
                platform: string;
                region: string | null;
                release: string | null;
            };
            environment: string;
            links: {
                config: string;
                self: string;
                status: string;
            };
            /** @enum {string} */
            status: "up" | "degraded" | "draining";
            /** Format: date-time */
            updated_at: string;
        };
        /** @description A refusal. */
        Error: {
            error: {
                /**
                 * @description Stable; branch on this.
                 * @enum {string}
                 */
                code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "not_acceptable" | "request_timeout" | "conflict" | "payload_too_large" | "image_too_large" | "unsupported_media_type" | "validation_error" | "rate_limited" | "server_error" | "bad_gateway" | "unavailable" | "configuration_unavailable" | "timeout";
                /** @description The request id again, on configuration routes. */
                correlationId?: string;
                /** @description Every failing field, once. */
                details?: {
                    /**
                     * @description Stable; branch on this.
                     * @enum {string}
                     */
                    code: "required" | "invalid_type" | "invalid_value" | "invalid_format" | "invalid_text" | "too_small" | "too_big" | "out_of_range" | "invalid" | "unsupported" | "unknown_member" | "read_only" | "not_allowed" | "unknown_parameter" | "repeated" | "invalid_cursor" | "credential_in_query" | "key_reused" | "duplicate_member" | "number_out_of_range" | "too_deep" | "scope_required" | "step_up_required" | "account_pending" | "account_active" | "account_suspended" | "account_disabled" | "account_deleted" | "privileged" | "beyond_creator" | "not_owner" | "not_a_person" | "too_many" | "transition_not_allowed" | "address_taken" | "last_way_in" | "passed" | "revoked" | "expired" | "not_active" | "already_replaced" | "already_rotated" | "no_issuer" | "last_administrator" | "roles_by_issuer" | "wrong_code" | "code_expired" | "code_used_up" | "not_accepted" | "no_login" | "type_not_accepted" | "not_an_image" | "side" | "pixels" | "frames" | "frame_pixels" | "aspect_ratio" | "malformed" | "scheme" | "credentials" | "address" | "own_port" | "invalid_secret";
                    /** @description Its path in the request, such as `settings.tags[2]`. */
                    field: string;
                    /** @description One sentence for people; may change. */
                    message: string;
                }[];
                /** @description The page that explains the codes, at `code`; a path is relative to the requested address. */
                doc_url: string;
                /** @description The first failing field. */
                field?: string;
                /** @description For people; may change. */
                message: string;
                /**
                 * @description Present when the change may have been made after all; any other refusal has changed nothing.
                 * @constant
                 */
                outcome?: "unknown";
                request_id: string;
            };
        };
        ExportedLogin: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            issuer: string;
            subject: string;
        };
        /** @description A sign-in of a person with one browser at the built-in issuer. */
        ExportedSignIn: {
            /** @description Client address at the time of the sign-in. */
            address: string | null;
            /** @description Browser and system by name; null when unknown. */
            browser: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The sign-in. Opaque. */
            id: string;
            /**
             * Format: date-time
             * @description Time at which an application last got a token by it, to the minute.
             * @example 2026-01-01T00:00:00.000Z
             */
            last_used_at: string;
        };
        /** @description The evaluation of a flag for the account. */
        FlagEvaluation: {
            key: string;
            /** @description STATIC, DEFAULT, TARGETING_MATCH, SPLIT, DISABLED or PREREQUISITE_FAILED. */
            reason: string;
            value: unknown;
            variant: string;
        };
        /** @description The evaluations of every flag for the account. */
        FlagEvaluations: {
            eventStreams?: {
                inactivityDelaySec: number;
                /** @constant */
                type: "sse";
                url: string;
            }[];
            flags: components["schemas"]["FlagEvaluation"][];
        };
        /** @description The reason why a flag was not evaluated, with OpenFeature's error codes. */
        FlagFailure: {
            errorCode: string;
            errorDetails?: string;
            key?: string;
        };
        /** @description The context of the evaluation. */
        FlagQuestion: {
            context: {
                targetingKey: string;
            } & {
                [key: string]: unknown;
            };
        };
        /** @description A refusal, in the form of a GraphQL answer. */
        GraphqlError: {
            errors: {
                extensions: {
                    /** @description Stable; branch on this. */
                    code: string;
                    request_id: string;
                };
                /** @description For people; may change. */
                message: string;
            }[];
        };
        GraphqlRequest: {
            /** @description The SHA-256 of a document, or its name in the manifest. */
            documentId?: string | null;
            extensions?: {
                [key: string]: unknown;
            } | null;
            operationName?: string | null;
            /** @description The document; without it `documentId` or `extensions` names one. */
            query?: string | null;
            variables?: {
                [key: string]: unknown;
            } | null;
        } | unknown | unknown | unknown;
        GraphqlResponse: {
            data?: {
                [key: string]: unknown;
            } | null;
            errors?: {
                extensions?: {
                    code: string;
                };
                message: string;
                path?: (string | number)[];
            }[];
        };
        /** @description A login of the account. */
        Identity: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description True when this request came with a token of this login. */
            current: boolean;
            /** @description Opaque. */
            id: string;
            /** @description The configured name of the identity provider. */
            issuer: string;
            /** @description The beginning of the subject, which distinguishes your logins. */
            subject_hint: string;
        };
        /** @description An image record, as its owner sees it. */
        Image: {
            /** @description The account that owns it. Opaque. */
            account_id: string;
            alt_text: string | null;
            animated: boolean;
            caption: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The most frequent colour of the image, as `#rrggbb`; null until known. */
            dominant_color?: string | null;
            /** @description Why `status` is `failed`. */
            failure?: {
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-01-01T00:00:00.000Z
                 */
                at: string;
                /** @description Number of attempts at the named variants. */
                attempts: number;
                /** @description A stable word. */
                code: string;
            } | null;
            filename: string;
            /** @description Fractions of width and height. */
            focal_point: {
                x: number;
                y: number;
            } | null;
            /** @description Pixels of the original, after orientation. */
            height: number;
            /** @description The image. Opaque. */
            id: string;
            /** @description Of the stored original, judged from its signature. */
            mime_type: string;
            /** @description ThumbHash in base64, once known. */
            placeholder: string | null;
            /** @description Lower-case hex, of the stored original. */
            sha256: string;
            /** @description Bytes of the stored original. */
            size_bytes: number;
            /** @enum {string} */
            status: "processing" | "ready" | "failed";
            tags: string[];
            title: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
            /** @description Absolute URL. */
            url: string;
            /** @description Derived images by name. */
            variants: {
                [key: string]: string;
            };
            /** @enum {string} */
            visibility: "private" | "public";
            /** @description Pixels of the original, after orientation. */
            width: number;
        };
        /** @description The deletion of an image's bytes. */
        ImageDeletion: {
            /** @description The account that owned it. Opaque. */
            account_id: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            deleted_at: string;
            /** @description Time at which the last byte was erased. */
            erased_at: string | null;
            /** @description Of the original and everything derived from it. */
            erased_bytes: number | null;
            /** @description The original and everything derived from it. */
            erased_objects: number | null;
            /** @description The image. Opaque. */
            image_id: string;
            /** @description The reason why bytes were kept: another image of the account has the same original. */
            kept: "shared_with_another_image" | null;
            /** @description Of the original, in lower-case hex. */
            sha256: string;
            /** @enum {string} */
            status: "erasing" | "erased";
        };
        ImageImport: {
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            alt_text?: string | null;
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            caption?: string | null;
            /** @description An http or https URL of a public address. */
            source_url: string;
            /** @description At most 50 tags of 64 characters. */
            tags?: string[];
            /**
             * @description At most 200 characters.
             * @default null
             */
            title?: string | null;
            /**
             * @description `public` opens content and variants to everyone; record, list and original stay the owner's.
             * @default private
             * @enum {string}
             */
            visibility?: "private" | "public";
        };
        ImagePatch: {
            /** @description At most 2,000 characters. */
            alt_text?: string | null;
            /** @description At most 2,000 characters. */
            caption?: string | null;
            /** @description At most 255 bytes, without folders. */
            filename?: string;
            /** @description What crops keep in sight, in fractions of width and height. */
            focal_point?: {
                x: number;
                y: number;
            } | null;
            /** @description At most 50 tags of 64 characters. */
            tags?: string[];
            /** @description At most 200 characters. */
            title?: string | null;
            /**
             * @description `public` opens content and variants to everyone; record, list and original stay the owner's.
             * @enum {string}
             */
            visibility?: "private" | "public";
        };
        ImageReplacement: {
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            alt_text?: string | null;
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            caption?: string | null;
            /** @description At most 255 bytes, without folders. */
            filename: string;
            /** @description What crops keep in sight, in fractions of width and height. */
            focal_point?: {
                x: number;
                y: number;
            } | null;
            /** @description At most 50 tags of 64 characters. */
            tags?: string[];
            /**
             * @description At most 200 characters.
             * @default null
             */
            title?: string | null;
            /**
             * @description `public` opens content and variants to everyone; record, list and original stay the owner's.
             * @enum {string}
             */
            visibility?: "private" | "public";
        };
        ImageSigningKey: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The key before it, whose URLs hold until they expire or the next rotation. */
            former: {
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-01-01T00:00:00.000Z
                 */
                created_at: string;
                /** @description The key. Opaque. */
                id: string;
            } | null;
            /** @description The key. Opaque. */
            id: string;
        };
        ImageUpload: {
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            alt_text?: string | null;
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            caption?: string | null;
            /** @description With `sha256`; that of the record that has the original, when left out. */
            filename?: string;
            /** @description Of an original that this account has already, in lower-case hex. */
            sha256?: string;
            /** @description An http or https URL of a public address. */
            source_url?: string;
            /** @description At most 50 tags of 64 characters. */
            tags?: string[];
            /**
             * @description At most 200 characters.
             * @default null
             */
            title?: string | null;
            /**
             * @description `public` opens content and variants to everyone; record, list and original stay the owner's.
             * @default private
             * @enum {string}
             */
            visibility?: "private" | "public";
        } | unknown | unknown;
        ImageUploadCompletion: {
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            alt_text?: string | null;
            /**
             * @description At most 2,000 characters.
             * @default null
             */
            caption?: string | null;
            /** @description At most 50 tags of 64 characters. */
            tags?: string[];
            /**
             * @description At most 200 characters.
             * @default null
             */
            title?: string | null;
            /**
             * @description `public` opens content and variants to everyone; record, list and original stay the owner's.
             * @default private
             * @enum {string}
             */
            visibility?: "private" | "public";
        };
        ImageUploadState: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Bytes are accepted until then.
             * @example 2026-01-01T00:00:00.000Z
             */
            expires_at: string;
            /** @description "" once the upload has ended. */
            filename: string;
            /** @description The upload. Opaque. */
            id: string;
            /** @description The image that it became. */
            image_id: string | null;
            mime_type: string;
            /** @description Bytes that have arrived; 0 once the upload has ended. */
            received_bytes: number;
            sha256: string | null;
            size_bytes: number;
            /** @enum {string} */
            status: "open" | "completed" | "cancelled" | "expired";
        };
        IssuedApiKey: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The API key that created it, `person` or `first-key`; null if unknown. */
            created_by?: string | null;
            expires_at: string | null;
            /** @description The first characters of the key, enough to recognise it. */
            hint: string;
            /** @description The key. Opaque. */
            id: string;
            /** @description The key itself, shown only once. */
            key: string;
            /** @description To the minute. */
            last_used_at: string | null;
            name: string;
            replaced_by: string | null;
            replaces: string | null;
            revoked_at: string | null;
            roles: ("viewer" | "owner" | "operator" | "admin")[];
            scopes: ("account:read" | "account:write" | "account:security" | "account:admin" | "images:read" | "images:write" | "config:read" | "config:admin" | "env:read" | "webhooks:read" | "webhooks:write" | "events:publish" | "management:read")[];
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
        };
        IssuedServiceClient: {
            /** @description The id under the name that OAuth libraries expect. */
            client_id: string;
            /** @description The secret, shown only once. */
            client_secret: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The API key that created it, `person` or `first-key`; null if unknown. */
            created_by?: string | null;
            expires_at: string | null;
            /** @description The client, its `client_id` at the token endpoint. Opaque. */
            id: string;
            /** @description Time of the last use of its secret, to the minute. */
            last_used_at: string | null;
            name: string;
            /** @description End of the previous secret; null when only one is valid. */
            previous_secret_expires_at: string | null;
            revoked_at: string | null;
            /** @description The scopes that its tokens may have. */
            scopes: ("account:read" | "account:write" | "account:security" | "account:admin" | "images:read" | "images:write" | "config:read" | "config:admin" | "env:read" | "webhooks:read" | "webhooks:write" | "events:publish" | "management:read")[];
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
        };
        NewImageUpload: {
            /** @description At most 255 bytes, without folders. */
            filename: string;
            /** @description One of `supported.imageTypes`; the bytes have to be of it. */
            mime_type: string;
            /** @description Of the file, in lower-case hex; other bytes are refused. */
            sha256?: string;
            /** @description Exactly; at most `limits.maxUploadBytes`. */
            size_bytes: number;
        };
        NewImageUploadTerms: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Bytes are accepted until then.
             * @example 2026-01-01T00:00:00.000Z
             */
            expires_at: string;
            /** @description "" once the upload has ended. */
            filename: string;
            /** @description Headers that the request must carry. */
            headers: {
                [key: string]: string;
            };
            /** @description The upload. Opaque. */
            id: string;
            /**
             * @description PATCH to this service, with your credentials and piece by piece if you like; PUT to the object store, as a whole and without credentials.
             * @enum {string}
             */
            method: "PATCH" | "PUT";
            mime_type: string;
            sha256: string | null;
            size_bytes: number;
            /** @description Absolute URL. A PUT needs nothing else, so it is a credential. */
            url: string;
        };
        PublishedEvents: {
            items: {
                /** @description True for a repetition, which is not delivered again. */
                duplicate: boolean;
                id: string;
                type: string;
                /** @description Mismatches with the schema of a type that only warns. */
                warnings: {
                    message: string;
                    pointer: string;
                }[];
            }[];
        };
        PublishEvents: components["schemas"]["CustomEvent"] | components["schemas"]["CustomEvent"][];
        ReceivedWebhook: {
            body_bytes: number;
            content_type: string | null;
            /** @description Delivery id of the partner; one that was used before for other content ends in # and digits of the content. */
            delivery_id: string;
            /** @description True when the partner's signature covers the id. */
            delivery_id_signed: boolean;
            event_type: string | null;
            /** @description True when the partner's signature covers the type. */
            event_type_signed: boolean;
            /** @description True when it was forwarded to the account's endpoints. */
            forwarded: boolean;
            /** @description The received delivery. Opaque. */
            id: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            received_at: string;
            /** @description Earlier delivery with the same body, where the scheme signs no time: this one is a repetition or a replay. */
            same_content_as: string | null;
        };
        ReceivedWebhookInFull: {
            body_bytes: number;
            content_type: string | null;
            /** @description Delivery id of the partner; one that was used before for other content ends in # and digits of the content. */
            delivery_id: string;
            /** @description True when the partner's signature covers the id. */
            delivery_id_signed: boolean;
            event_type: string | null;
            /** @description True when the partner's signature covers the type. */
            event_type_signed: boolean;
            /** @description True when it was forwarded to the account's endpoints. */
            forwarded: boolean;
            /** @description Every header as it came; signatures and credentials are masked. */
            headers: {
                [key: string]: string | string[];
            };
            /** @description The received delivery. Opaque. */
            id: string;
            links: {
                body: string;
                self: string;
            };
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            received_at: string;
            /** @description Earlier delivery with the same body, where the scheme signs no time: this one is a repetition or a replay. */
            same_content_as: string | null;
        };
        ReceivedWebhookReplay: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            event_types: string[] | null;
            finished_at: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            from: string;
            /** @description The replay. Opaque. */
            id: string;
            ids: string[] | null;
            /** @description Number of webhooks chosen by id that were past the retention when their turn came. */
            missing: number;
            published: number;
            /** @description Webhooks published per second. */
            rate: number;
            /** @description The source. Opaque. */
            source_id: string;
            /** @enum {string} */
            status: "running" | "completed" | "cancelled";
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            to: string;
            /** @description Number of chosen webhooks at its start. */
            total: number;
        };
        ReceivedWebhookReplayCount: {
            /** @description Number of webhooks that would be published. */
            count: number;
        };
        RecoveryRequest: {
            /**
             * Format: date-time
             * @description Since when administrators see the request.
             * @example 2026-01-01T00:00:00.000Z
             */
            requested_at: string;
        };
        RetriedWebhookRejection: {
            /**
             * @description repeated: it was already received, by a retry or a repetition.
             * @enum {string}
             */
            outcome: "received" | "repeated";
            received_id: string | null;
        };
        Revocation: {
            /** @description Number of live keys and clients that it created. */
            created_live: number;
            id: string;
        };
        RotateWebhookEndpointSecret: {
            /** @description Seconds for which the previous secret still signs as well. Default: a setting of the service. */
            overlap_seconds?: number;
        };
        RotateWebhookSourceSecret: {
            /**
             * @description Seconds for which the present secret still verifies.
             * @default 86400
             */
            overlap_seconds?: number;
            /** @description Secret that the partner signs with. Write-only. */
            secret: string;
        };
        RotateWebhookSourceUrl: {
            /**
             * @description Seconds for which the present address is still accepted.
             * @default 86400
             */
            overlap_seconds?: number;
        };
        SentCode: {
            /**
             * Format: date-time
             * @description When the code expires.
             * @example 2026-01-01T00:00:00.000Z
             */
            expires_at: string;
            /** @description The address that the code was sent to, abbreviated. */
            sent_to: string;
        };
        /** @description A program that acts for the account that made it, without its secret. */
        ServiceClient: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The API key that created it, `person` or `first-key`; null if unknown. */
            created_by?: string | null;
            expires_at: string | null;
            /** @description The client, its `client_id` at the token endpoint. Opaque. */
            id: string;
            /** @description Time of the last use of its secret, to the minute. */
            last_used_at: string | null;
            name: string;
            /** @description End of the previous secret; null when only one is valid. */
            previous_secret_expires_at: string | null;
            revoked_at: string | null;
            /** @description The scopes that its tokens may have. */
            scopes: ("account:read" | "account:write" | "account:security" | "account:admin" | "images:read" | "images:write" | "config:read" | "config:admin" | "env:read" | "webhooks:read" | "webhooks:write" | "events:publish" | "management:read")[];
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
        };
        /** @description Server settings. Anonymous callers get server, locale and limits. */
        Settings: {
            /** @description Location of the deployment; its software is visible to operators only. */
            deployment?: {
                commit?: string | null;
                environment: string;
                region?: string | null;
                release?: string | null;
            };
            enabledIntegrations?: string[];
            /** @description Only a true turns dependent behaviour on. */
            features?: {
                [key: string]: boolean;
            };
            limits: {
                pageSize: number;
            };
            locale: string;
            server: {
                /** Format: uri */
                baseUrl: string;
                /** @description The colour of this deployment, as `#rrggbb`. */
                color: string;
                /** @description An https URL, or a data URL of an image. */
                logoUrl: string | null;
                name: string;
                supportUrl: string | null;
            };
        };
        SignedImageUrl: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            expires_at: string;
            /** @description Absolute URL. It is a credential. */
            url: string;
        };
        SignedImageUrlRequest: {
            /** @description Six hex digits. */
            background?: string;
            /** @description Width and height times this. */
            dpr?: number;
            enlarge?: boolean;
            /** @description A minute to a week. */
            expires_in_seconds: number;
            /** @enum {string} */
            fit?: "inside" | "cover" | "contain" | "fill" | "outside";
            /** @enum {string} */
            format?: "auto" | "jpeg" | "png" | "webp" | "avif" | "gif";
            /** @enum {string} */
            gravity?: "focal" | "attention";
            /** @description Pixels. */
            height?: number;
            /** @enum {string} */
            metadata?: "none" | "copyright";
            /** @description 1 to 100, or `auto`. */
            quality?: number | "auto";
            /** @description Pixels. */
            width?: number;
        };
        /** @description A sign-in of a person with one browser at the built-in issuer. */
        SignIn: {
            /** @description Client address at the time of the sign-in. */
            address: string | null;
            /** @description Browser and system by name; null when unknown. */
            browser: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description True when this request came with a token of this sign-in. */
            current: boolean;
            /** @description The sign-in. Opaque. */
            id: string;
            /**
             * Format: date-time
             * @description Time at which an application last got a token by it, to the minute.
             * @example 2026-01-01T00:00:00.000Z
             */
            last_used_at: string;
        };
        StartWebhookReplay: {
            /**
             * @description Only counts the deliveries.
             * @default false
             */
            dry_run?: boolean;
            endpoint_id: string;
            /** @default [] */
            event_ids?: string[];
            /** @default [] */
            event_types?: string[];
            /**
             * Format: date-time
             * @description Deliveries of events at this time or later.
             */
            from: string;
            /**
             * @description Deliveries per second.
             * @default null
             */
            rate?: number | null;
            /**
             * @description Default: every delivery that has ended.
             * @enum {string}
             */
            status?: "succeeded" | "exhausted" | "parked";
            /**
             * Format: date-time
             * @description Deliveries of events before this time. Default: now.
             */
            to?: string;
        };
        StepUp: {
            /**
             * Format: date-time
             * @description Until then this token counts as freshly signed in.
             * @example 2026-01-01T00:00:00.000Z
             */
            valid_until: string;
        };
        UpdateWebhookEndpoint: {
            description?: string | null;
            /** @description Names of events, or prefixes that end in `*`. */
            event_types?: string[];
            settings?: {
                api_version?: "v1" | null;
                /** @description PEM without a passphrase. The key is never shown. */
                client_certificate?: {
                    certificate: string;
                    key: string;
                } | null;
                filter?: {
                    [key: string]: unknown;
                } | null;
                format?: ("envelope" | "original") | null;
                headers?: {
                    name: string;
                    /** @default false */
                    secret?: boolean;
                    /** @default null */
                    value?: string | null;
                }[] | null;
                max_in_flight?: number | null;
                metadata?: {
                    [key: string]: string | null;
                } | null;
                order_hold_seconds?: number | null;
                /** @description One delivery at a time for each subject, in the order of its events. */
                ordered?: boolean | null;
                /** @description Attempts per time, over all processes, evenly spread. */
                rate?: {
                    limit: number;
                    per_seconds: number;
                } | null;
                retry_schedule_seconds?: number[] | null;
                signatures?: ("stripe" | "github" | "v1a")[] | null;
                timeout_seconds?: number | null;
            };
            /** @description URL that deliveries are posted to: https, on a public address. */
            url?: string;
        };
        UpdateWebhookEventType: {
            description?: string | null;
            /** @enum {string} */
            enforcement?: "off" | "warn" | "block";
            schema?: {
                [key: string]: unknown;
            } | null;
        };
        UpdateWebhookSource: {
            /** @description Accepted types of the partner, each a name or a prefix that ends in `*`; null accepts every type. */
            event_types?: string[] | null;
            /** @description Forwards accepted webhooks to the account's endpoints. */
            forward?: boolean;
            /** @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words. */
            name?: string;
            /** @description Secret that the partner signs with. Write-only. */
            secret?: string;
            /** @description Differences of the sender from its scheme. A setting of another scheme is refused. An absent member keeps its value; null restores the default. */
            settings?: {
                accept_weak?: boolean | null;
                algorithm?: ("sha256" | "sha512" | "sha1") | null;
                answer?: {
                    body?: string;
                    content_type?: string;
                    status: 200 | 202 | 204;
                } | null;
                audience?: (string | null) | null;
                body_digest_claim?: (string | null) | null;
                body_digest_encoding?: ("hex" | "base64" | "base64url") | null;
                delivery_id_from?: ("digest" | {
                    header: string;
                } | {
                    pointer: string;
                }) | null;
                delivery_id_header?: string | null;
                encoding?: ("hex" | "base64" | "base64url") | null;
                event_type_from?: ({
                    header: string;
                } | {
                    pointer: string;
                }) | null;
                event_type_header?: string | null;
                forwarded_headers?: string[] | null;
                handshake?: ("meta" | "dropbox" | "microsoft-graph" | "cloudevents" | "slack" | "zoom" | "discord") | null;
                issuer?: (string | null) | null;
                keep_rejected_bodies?: boolean | null;
                max_body_bytes?: number | null;
                pairs?: ({
                    /**
                     * @default ,
                     * @enum {string}
                     */
                    separator?: "," | ";" | " " | "&";
                    signature_key: string;
                    /** @default null */
                    time_key?: string | null;
                } | null) | null;
                previous_signature_header?: (string | null) | null;
                public_url?: string | null;
                rate?: number | null;
                refuse_same_content_seconds?: number | null;
                secret_encoding?: ("utf8" | "hex" | "base64") | null;
                signature_header?: string | null;
                signature_over?: ("wire" | "decoded") | null;
                signature_prefix?: string | null;
                signature_separator?: (("," | ";" | " ") | null) | null;
                signed_content?: string | null;
                time_unit?: ("s" | "ms" | "rfc3339") | null;
                timestamp_from?: ({
                    pointer: string;
                } | null) | null;
                timestamp_header?: string | null;
                token_format?: ("plain" | "bearer" | "basic") | null;
                token_from?: ({
                    pointer: string;
                } | null) | null;
                token_header?: string | null;
                tolerance_seconds?: number | null;
            };
            /**
             * @description A paused source answers 503, so that the partner tries again. A stopped source answers 202 and keeps nothing, ~for a sender that would give up a failing address.
             * @enum {string}
             */
            status?: "active" | "paused" | "stopped";
            verify_token?: string | null;
        };
        VerifyWebhook: {
            /** @description The body as text, byte for byte. */
            body?: string;
            /**
             * Format: base64
             * @description The body, when it is not text.
             */
            body_base64?: string;
            /** @description The headers as they came. */
            headers: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description Time of its arrival. Default: now.
             */
            received_at?: string;
            /**
             * Format: uri
             * @description URL that it was posted to, if the signature covers it.
             */
            url?: string;
        };
        WebhookAttempt: {
            /** @description False for an attempt whose lease had expired: another attempt with its number was recorded first. */
            counted: boolean;
            /** @description Decision that followed from the attempt. */
            decision: ("succeeded" | "retry" | "exhausted" | "gone" | "held") | null;
            /** @description The delivery. Opaque. */
            delivery_id: string;
            duration_ms: number;
            /** @description The endpoint. Opaque. */
            endpoint_id: string;
            /** @description Reason why no answer came, as a stable word. */
            error: string | null;
            /** @description The attempt. Opaque. */
            id: string;
            /** @description Time planned for the next attempt; null when there was none. */
            next_attempt_at: string | null;
            /** @description 1 for the first. */
            number: number;
            /** @description Phase that failed when no answer came: `resolve`, `connect`, `tls` and so on. */
            phase: string | null;
            /** @description Milliseconds of each phase; null for a phase that was not needed, such as `connect` on an open connection. */
            phases: {
                body: number | null;
                connect: number | null;
                first_byte: number | null;
                resolve: number | null;
                send: number | null;
                tls: number | null;
            } | null;
            /** @description Headers as sent; values of secret headers are masked. */
            request_headers: {
                [key: string]: string;
            } | null;
            /** @description The first 16 KiB of the answer, decoded. */
            response: string | null;
            /** @description The first 4 KiB. */
            response_headers: {
                [key: string]: string;
            } | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            started_at: string;
            /** @description HTTP status; null when no answer came. */
            status: number | null;
        };
        /** @description One delivery of one event to one endpoint. */
        WebhookDelivery: {
            /** @description Attempts made so far. */
            attempts: number;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description The endpoint. Opaque. */
            endpoint_id: string;
            /** @description The event. Opaque. */
            event_id: string;
            event_type: string;
            /** @description The delivery, sent as `X-Delivery-Id`. Opaque. */
            id: string;
            last_attempt_at: string | null;
            /** @description Why the last attempt failed, in a stable word. */
            last_error: string | null;
            /** @description HTTP status of the last attempt; null when none came back. */
            last_status: number | null;
            next_attempt_at: string | null;
            /** @enum {string} */
            status: "pending" | "held" | "parked" | "succeeded" | "exhausted";
        };
        /** @description An address to which events of an account are delivered. */
        WebhookEndpoint: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            description: string | null;
            /** @description Why it is disabled, when it is. */
            disabled_reason: string | null;
            /** @description Names of events, or a prefix that ends in `*`. */
            event_types: string[];
            /** @description The endpoint. Opaque. */
            id: string;
            /**
             * @description The accounts whose events it gets: its own, or, for operators, all.
             * @enum {string}
             */
            scope: "account" | "all";
            settings: {
                /** @description The version of events that it gets; null is the newest. */
                api_version: string | null;
                /** @description The certificate that deliveries present in the TLS handshake. */
                client_certificate: {
                    /**
                     * Format: date-time
                     * @description RFC 3339, UTC, with milliseconds.
                     * @example 2026-01-01T00:00:00.000Z
                     */
                    expires_at: string;
                    /** @description SHA-256, in hex. */
                    fingerprint: string;
                    subject: string;
                } | null;
                /** @description Conditions on `data`; null takes every event. */
                filter: {
                    [key: string]: unknown;
                } | null;
                /**
                 * @description `original` posts a partner's webhook as the partner sent it.
                 * @enum {string}
                 */
                format: "envelope" | "original";
                /** @description Headers that every delivery carries. */
                headers: {
                    name: string;
                    /** @description True if the value is sealed and never shown. */
                    secret: boolean;
                    /** @description Null for one that is secret. */
                    value: string | null;
                }[];
                /** @description Attempts at the same time; null is the default. */
                max_in_flight: number | null;
                /** @description Kept for the owner; not sent. */
                metadata: {
                    [key: string]: string;
                };
                /** @description Time for which a failing delivery holds up its subject before it is parked; null for the default. */
                order_hold_seconds: number | null;
                /** @description One delivery at a time for each subject, in the order of its events. */
                ordered: boolean;
                /** @description Attempts in a time, over all processes; null is no limit. */
                rate: {
                    limit: number;
                    per_seconds: number;
                } | null;
                /** @description Delay before each attempt; null is the default. */
                retry_schedule_seconds: number[] | null;
                /** @description Signatures besides the usual ones. */
                signatures: ("stripe" | "github" | "v1a")[];
                /** @description Deadline of one attempt; null is the default. */
                timeout_seconds: number | null;
            };
            /** @enum {string} */
            status: "enabled" | "paused" | "disabled";
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
            url: string;
        };
        WebhookEndpointSecret: {
            /** @example whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiAzMiBi */
            secret: string;
        };
        WebhookEndpointWithSecret: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            description: string | null;
            /** @description Why it is disabled, when it is. */
            disabled_reason: string | null;
            /** @description Names of events, or a prefix that ends in `*`. */
            event_types: string[];
            /** @description The endpoint. Opaque. */
            id: string;
            /**
             * @description The accounts whose events it gets: its own, or, for operators, all.
             * @enum {string}
             */
            scope: "account" | "all";
            /** @description Secret that verifies deliveries. Shown on creation, rotation and reveal only. */
            secret: string;
            settings: {
                /** @description The version of events that it gets; null is the newest. */
                api_version: string | null;
                /** @description The certificate that deliveries present in the TLS handshake. */
                client_certificate: {
                    /**
                     * Format: date-time
                     * @description RFC 3339, UTC, with milliseconds.
                     * @example 2026-01-01T00:00:00.000Z
                     */
                    expires_at: string;
                    /** @description SHA-256, in hex. */
                    fingerprint: string;
                    subject: string;
                } | null;
                /** @description Conditions on `data`; null takes every event. */
                filter: {
                    [key: string]: unknown;
                } | null;
                /**
                 * @description `original` posts a partner's webhook as the partner sent it.
                 * @enum {string}
                 */
                format: "envelope" | "original";
                /** @description Headers that every delivery carries. */
                headers: {
                    name: string;
                    /** @description True if the value is sealed and never shown. */
                    secret: boolean;
                    /** @description Null for one that is secret. */
                    value: string | null;
                }[];
                /** @description Attempts at the same time; null is the default. */
                max_in_flight: number | null;
                /** @description Kept for the owner; not sent. */
                metadata: {
                    [key: string]: string;
                };
                /** @description Time for which a failing delivery holds up its subject before it is parked; null for the default. */
                order_hold_seconds: number | null;
                /** @description One delivery at a time for each subject, in the order of its events. */
                ordered: boolean;
                /** @description Attempts in a time, over all processes; null is no limit. */
                rate: {
                    limit: number;
                    per_seconds: number;
                } | null;
                /** @description Delay before each attempt; null is the default. */
                retry_schedule_seconds: number[] | null;
                /** @description Signatures besides the usual ones. */
                signatures: ("stripe" | "github" | "v1a")[];
                /** @description Deadline of one attempt; null is the default. */
                timeout_seconds: number | null;
            };
            /** @enum {string} */
            status: "enabled" | "paused" | "disabled";
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
            url: string;
        };
        WebhookEvent: {
            /** @description Body of its deliveries, byte for byte: signatures cover this text. */
            body: string;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            id: string;
            type: string;
        };
        WebhookEventType: {
            description: string | null;
            /**
             * @description Handling of an event that does not match the schema: accepted, accepted with a warning, or refused.
             * @enum {string}
             */
            enforcement: "off" | "warn" | "block";
            /** @description Example of the data; only for the service's own types. */
            example?: unknown;
            name: string;
            /** @description True for a type that the account declared. */
            own: boolean;
            /** @description JSON Schema 2020-12 of the data; null for any. */
            schema: {
                [key: string]: unknown;
            } | null;
        };
        WebhookExplanation: {
            delivery_id: string | null;
            event_type: string | null;
            /** @description Expectation of the failed step. */
            expected: string | null;
            /** @description Headers that were read. */
            headers_read: string[];
            /** @description Changes that would make it verify. */
            hints: string[];
            /**
             * @description Outcome that the webhook would have.
             * @enum {string}
             */
            outcome: "accepted" | "challenged" | "dropped" | "refused";
            /** @description Stable word, the same as in rejections. */
            reason: string | null;
            /** @description The step that failed. */
            step: string | null;
        };
        WebhookRejection: {
            address: string;
            body_bytes: number;
            /** @description The rejection. Opaque. */
            id: string;
            /** @description True when the whole webhook is kept and can be retried. */
            kept: boolean;
            /** @description A stable word, such as signature_mismatch. */
            reason: string;
            /** @description The received webhook that a retry created. */
            received_id: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            rejected_at: string;
            /** @description Status of the answer to the partner. */
            status: number;
        };
        WebhookRejectionInFull: {
            address: string;
            /** @description The first 4 KiB of the body. */
            body_base64: string | null;
            body_bytes: number;
            /** @description All headers as they came; signatures and credentials are masked. Null when the source keeps no refused webhooks. */
            headers: {
                [key: string]: string | string[];
            } | null;
            /** @description The rejection. Opaque. */
            id: string;
            /** @description True when the whole webhook is kept and can be retried. */
            kept: boolean;
            /** @description A stable word, such as signature_mismatch. */
            reason: string;
            /** @description The received webhook that a retry created. */
            received_id: string | null;
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            rejected_at: string;
            /** @description Status of the answer to the partner. */
            status: number;
        };
        WebhookReplay: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            ended_at: string | null;
            /** @description The endpoint. Opaque. */
            endpoint_id: string;
            /** @description Empty for all. */
            event_ids: string[];
            /** @description Empty for all. */
            event_types: string[];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            from: string;
            /** @description The replay, sent as `X-Replay-Id`. Opaque. */
            id: string;
            /** @description Deliveries per second; null for no limit. */
            rate: number | null;
            /** @description Number of deliveries queued so far. */
            replayed: number;
            /** @enum {string} */
            status: "running" | "done" | "cancelled";
            statuses: ("succeeded" | "exhausted" | "parked")[];
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            to: string;
            /** @description Number of matching deliveries at its start. */
            total: number;
        };
        WebhookReplayCount: {
            count: number;
        };
        WebhookSigningKey: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description Time at which it stops signing; null for the newest. */
            expires_at: string | null;
            /** @description The key. Opaque. */
            id: string;
            /** @description `whpk_` and the 32 bytes of an Ed25519 key in base 64. */
            public_key: string;
        };
        WebhookSigningKeys: {
            items: components["schemas"]["WebhookSigningKey"][];
        };
        /** @description A partner that sends webhooks to the account. */
        WebhookSource: {
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            created_at: string;
            /** @description Types that are accepted; null accepts every type. */
            event_types: string[] | null;
            /** @description Former paths that are still accepted, the latest first. */
            former_ingest_paths?: {
                /**
                 * Format: date-time
                 * @description RFC 3339, UTC, with milliseconds.
                 * @example 2026-01-01T00:00:00.000Z
                 */
                ends_at: string;
                ingest_path: string;
            }[];
            /** @description True if accepted webhooks are forwarded to the account's endpoints. */
            forward: boolean;
            /** @description The source. Opaque. */
            id: string;
            /** @description The path to which the partner posts. */
            ingest_path: string;
            name: string;
            /** @description When each secret that was rotated out stops verifying, the last one first. */
            overlaps_end_at?: string[];
            /** @enum {string} */
            scheme: "standard-webhooks" | "stripe" | "github" | "slack" | "shopify" | "hmac" | "ed25519" | "token" | "jwt";
            /** @description Settings of the scheme, such as header names for `hmac`. */
            settings: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            status: "active" | "paused" | "stopped";
            /**
             * Format: date-time
             * @description RFC 3339, UTC, with milliseconds.
             * @example 2026-01-01T00:00:00.000Z
             */
            updated_at: string;
        };
    };
    responses: {
        /** @description Success. */
        Account: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Account"];
            };
        };
        /** @description Success. */
        AccountExport: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AccountExport"];
            };
        };
        /** @description Success. */
        AccountSettings: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AccountSettings"];
            };
        };
        /** @description Success. */
        AdministeredAccount: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AdministeredAccount"];
            };
        };
        /** @description Success. */
        ApiKey: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiKey"];
            };
        };
        /** @description Another server failed. */
        BadGateway: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "bad_gateway",
                 *         "message": "Another server failed.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#bad_gateway"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is not well formed, a parameter is not valid, or a required member is absent. */
        BadRequest: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "invalid_request",
                 *         "message": "The request is not well formed.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#invalid_request"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success. */
        Config: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Config"];
            };
        };
        /** @description Success. */
        ConfigStatus: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ConfigStatus"];
            };
        };
        /** @description The state has changed, or does not allow this. */
        Conflict: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "conflict",
                 *         "message": "The request conflicts with the current state.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#conflict"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success. */
        Environment: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Environment"];
            };
        };
        /** @description Success. */
        FlagEvaluation: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["FlagEvaluation"];
            };
        };
        /** @description Success. */
        FlagEvaluations: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["FlagEvaluations"];
            };
        };
        /** @description The credential lacks a scope, or the state of the account forbids it. */
        Forbidden: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "forbidden",
                 *         "message": "This is not permitted.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#forbidden"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request took too long. */
        GatewayTimeout: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "timeout",
                 *         "message": "The request took too long.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#timeout"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The credential lacks a scope, or the state of the account forbids it. */
        GraphqlForbidden: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "This is not permitted.",
                 *           "extensions": {
                 *             "code": "FORBIDDEN",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description The request took too long. */
        GraphqlGatewayTimeout: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "The request took too long.",
                 *           "extensions": {
                 *             "code": "UNAVAILABLE",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description Something went wrong on our side. */
        GraphqlInternalServerError: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "Something went wrong on our side.",
                 *           "extensions": {
                 *             "code": "INTERNAL",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description No acceptable media type can be produced. */
        GraphqlNotAcceptable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "No acceptable media type can be produced.",
                 *           "extensions": {
                 *             "code": "VALIDATION_FAILED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description The body is too large. */
        GraphqlPayloadTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "The body is too large.",
                 *           "extensions": {
                 *             "code": "VALIDATION_FAILED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description The headers are too large. */
        GraphqlRequestHeaderFieldsTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "The request is not well formed.",
                 *           "extensions": {
                 *             "code": "VALIDATION_FAILED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description The body stopped moving, or did not arrive in time. */
        GraphqlRequestTimeout: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "The body did not arrive in time.",
                 *           "extensions": {
                 *             "code": "VALIDATION_FAILED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description Not available right now; see Retry-After. */
        GraphqlServiceUnavailable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "The service is not available right now.",
                 *           "extensions": {
                 *             "code": "UNAVAILABLE",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description Too many requests; see Retry-After. */
        GraphqlTooManyRequests: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "Too many requests. Try again later.",
                 *           "extensions": {
                 *             "code": "RATE_LIMITED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description Credentials are missing, not valid or expired. */
        GraphqlUnauthorized: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "Valid credentials are required.",
                 *           "extensions": {
                 *             "code": "UNAUTHENTICATED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description A member of the body is not valid. */
        GraphqlUnprocessableEntity: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "A field is not valid.",
                 *           "extensions": {
                 *             "code": "VALIDATION_FAILED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description The media type of the body is not supported. */
        GraphqlUnsupportedMediaType: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "errors": [
                 *         {
                 *           "message": "The media type of the body is not supported.",
                 *           "extensions": {
                 *             "code": "VALIDATION_FAILED",
                 *             "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["GraphqlError"];
            };
        };
        /** @description Success. */
        Identity: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Identity"];
            };
        };
        /** @description Created. */
        IdentityCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Identity"];
            };
        };
        /** @description Success. */
        Image: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Image"];
            };
        };
        /** @description Created. */
        ImageCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Image"];
            };
        };
        /** @description Success. */
        ImageDeletion: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ImageDeletion"];
            };
        };
        /** @description Created. */
        ImageSigningKeyCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ImageSigningKey"];
            };
        };
        /** @description Success. */
        ImageUploadState: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ImageUploadState"];
            };
        };
        /** @description Something went wrong on our side. */
        InternalServerError: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "server_error",
                 *         "message": "Something went wrong on our side.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#server_error"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Created. */
        IssuedApiKeyCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IssuedApiKey"];
            };
        };
        /** @description Success. */
        IssuedServiceClient: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IssuedServiceClient"];
            };
        };
        /** @description Created. */
        IssuedServiceClientCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IssuedServiceClient"];
            };
        };
        /** @description Created. */
        NewImageUploadTermsCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NewImageUploadTerms"];
            };
        };
        /** @description Done; the answer has no body. */
        NoContent: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description No acceptable media type can be produced. */
        NotAcceptable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "not_acceptable",
                 *         "message": "No acceptable media type can be produced.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#not_acceptable"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no such resource, or it belongs to someone else. */
        NotFound: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "not_found",
                 *         "message": "There is nothing here.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#not_found"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The client has the current state. */
        NotModified: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The body is too large. */
        PayloadTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "payload_too_large",
                 *         "message": "The body is too large.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#payload_too_large"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Taken; done later. */
        PublishedEventsAccepted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PublishedEvents"];
            };
        };
        /** @description The range contains no byte of the content. */
        RangeNotSatisfiable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "invalid_request",
                 *         "message": "The request is not well formed.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#invalid_request"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success. */
        ReceivedWebhookInFull: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ReceivedWebhookInFull"];
            };
        };
        /** @description Success. */
        ReceivedWebhookReplay: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ReceivedWebhookReplay"];
            };
        };
        /** @description Taken; done later. */
        ReceivedWebhookReplayAccepted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ReceivedWebhookReplay"];
            };
        };
        /** @description Success. */
        ReceivedWebhookReplayCount: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ReceivedWebhookReplayCount"];
            };
        };
        /** @description Taken; done later. */
        RecoveryRequestAccepted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RecoveryRequest"];
            };
        };
        /** @description The headers are too large. */
        RequestHeaderFieldsTooLarge: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "invalid_request",
                 *         "message": "The request is not well formed.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#invalid_request"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body stopped moving, or did not arrive in time. */
        RequestTimeout: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "request_timeout",
                 *         "message": "The body did not arrive in time.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#request_timeout"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success. */
        RetriedWebhookRejection: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RetriedWebhookRejection"];
            };
        };
        /** @description Success. */
        Revocation: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Revocation"];
            };
        };
        /** @description Taken; done later. */
        SentCodeAccepted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SentCode"];
            };
        };
        /** @description Success. */
        ServiceClient: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ServiceClient"];
            };
        };
        /** @description Not available right now; see Retry-After. */
        ServiceUnavailable: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unavailable",
                 *         "message": "The service is not available right now.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#unavailable"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success. */
        Settings: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Settings"];
            };
        };
        /** @description Created. */
        SignedImageUrlCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SignedImageUrl"];
            };
        };
        /** @description Success. */
        StepUp: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["StepUp"];
            };
        };
        /** @description Too many requests; see Retry-After. */
        TooManyRequests: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "rate_limited",
                 *         "message": "Too many requests. Try again later.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#rate_limited"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Credentials are missing, not valid or expired. */
        Unauthorized: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unauthorized",
                 *         "message": "Valid credentials are required.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#unauthorized"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A member of the body is not valid. */
        UnprocessableEntity: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "validation_error",
                 *         "message": "A field is not valid.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#validation_error"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The media type of the body is not supported. */
        UnsupportedMediaType: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unsupported_media_type",
                 *         "message": "The media type of the body is not supported.",
                 *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                 *         "doc_url": "/docs/errors#unsupported_media_type"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Success. */
        WebhookAttempt: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookAttempt"];
            };
        };
        /** @description Success. */
        WebhookDelivery: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookDelivery"];
            };
        };
        /** @description Taken; done later. */
        WebhookDeliveryAccepted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookDelivery"];
            };
        };
        /** @description Success. */
        WebhookEndpoint: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEndpoint"];
            };
        };
        /** @description Success. */
        WebhookEndpointSecret: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEndpointSecret"];
            };
        };
        /** @description Success. */
        WebhookEndpointWithSecret: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEndpointWithSecret"];
            };
        };
        /** @description Created. */
        WebhookEndpointWithSecretCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEndpointWithSecret"];
            };
        };
        /** @description Success. */
        WebhookEvent: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        /** @description Success. */
        WebhookEventType: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEventType"];
            };
        };
        /** @description Created. */
        WebhookEventTypeCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookEventType"];
            };
        };
        /** @description Success. */
        WebhookExplanation: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookExplanation"];
            };
        };
        /** @description Success. */
        WebhookRejectionInFull: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookRejectionInFull"];
            };
        };
        /** @description Success. */
        WebhookReplay: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookReplay"];
            };
        };
        /** @description Taken; done later. */
        WebhookReplayAccepted: {
            headers: {
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookReplay"];
            };
        };
        /** @description Success. */
        WebhookReplayCount: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookReplayCount"];
            };
        };
        /** @description Success. */
        WebhookSigningKey: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookSigningKey"];
            };
        };
        /** @description Success. */
        WebhookSigningKeys: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookSigningKeys"];
            };
        };
        /** @description Success. */
        WebhookSource: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookSource"];
            };
        };
        /** @description Created. */
        WebhookSourceCreated: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Location: components["headers"]["Location"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["WebhookSource"];
            };
        };
    };
    parameters: {
        /** @description Repeated requests with the same key have one effect within 24 hours. */
        IdempotencyKey: string;
        /** @description The entity tag that the change is based on; a stale one leads to 409. */
        IfMatch: string;
        /** @description Entity tags that the client has; a current one leads to 304. */
        IfNoneMatch: string;
        /** @description `return=minimal` leads to 204. */
        Prefer: string;
        /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
        RequestId: string;
    };
    requestBodies: never;
    headers: {
        /** @description The caches that may keep the answer, and the time. */
        CacheControl: string;
        /** @description The entity tag of the answer, for `If-Match` and `If-None-Match`. */
        ETag: string;
        /** @description The path of the new resource. */
        Location: string;
        /** @description The remaining allowances. */
        RateLimit: string;
        /** @description The allowances that the request counts against. */
        RateLimitPolicy: string;
        /** @description The id of the request; quote it in reports. */
        RequestId: string;
        /** @description Seconds to wait before the next try. */
        RetryAfter: string;
        /** @description The accepted kinds of authentication. */
        WWWAuthenticate: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    viewer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Account"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    replaceAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Ada Byron",
                 *       "contact_address": "ada@example.org",
                 *       "locale": "en",
                 *       "timezone": "Europe/London"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description An e-mail address. A new one is pending until it is confirmed; null clears at once.
                     * @default null
                     */
                    contact_address?: string | null;
                    /** @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words. */
                    display_name: string;
                    /** @example en */
                    locale: string;
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone: string;
                };
            };
        };
        responses: {
            200: components["responses"]["Account"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "display_name": "Ada King"
                 *     }
                 */
                "application/json": {
                    /** @description An e-mail address. A new one is pending until it is confirmed; null clears at once. */
                    contact_address?: string | null;
                    /** @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words. */
                    display_name?: string;
                    /** @example en */
                    locale?: string;
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone?: string;
                };
                /**
                 * @example {
                 *       "display_name": "Ada King"
                 *     }
                 */
                "application/merge-patch+json": {
                    /** @description An e-mail address. A new one is pending until it is confirmed; null clears at once. */
                    contact_address?: string | null;
                    /** @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words. */
                    display_name?: string;
                    /** @example en */
                    locale?: string;
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone?: string;
                };
            };
        };
        responses: {
            200: components["responses"]["Account"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    apiKeys: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "key_2hTq8LcN5wYfKb0ZrVxPsd",
                     *           "name": "deploy",
                     *           "hint": "sbx_live_7Qm2",
                     *           "scopes": [
                     *             "images:read",
                     *             "images:write"
                     *           ],
                     *           "roles": [],
                     *           "status": "active",
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "created_by": "person",
                     *           "expires_at": null,
                     *           "last_used_at": null,
                     *           "revoked_at": null,
                     *           "replaces": null,
                     *           "replaced_by": null
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["ApiKey"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "deploy",
                 *       "scopes": [
                 *         "images:read",
                 *         "images:write"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description End of the key; null, or absent, for none. */
                    expires_at?: string | null;
                    /**
                     * @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.
                     * @example deploy
                     */
                    name: string;
                    /**
                     * @description A subset of the creator's own.
                     * @example [
                     *       "images:read",
                     *       "images:write"
                     *     ]
                     */
                    scopes: ("account:read" | "account:write" | "account:security" | "account:admin" | "images:read" | "images:write" | "config:read" | "config:admin" | "env:read" | "webhooks:read" | "webhooks:write" | "events:publish" | "management:read")[];
                };
            };
        };
        responses: {
            201: components["responses"]["IssuedApiKeyCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    apiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example key_2hTq8LcN5wYfKb0ZrVxPsd */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ApiKey"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: {
                /** @description True to revoke also the credentials that it created, directly or through others. */
                revoke_created?: "true" | "false";
            };
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example key_2hTq8LcN5wYfKb0ZrVxPsd */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Revocation"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    renameApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example key_2hTq8LcN5wYfKb0ZrVxPsd */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "deploy"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.
                     * @example deploy
                     */
                    name?: string;
                };
                /**
                 * @example {
                 *       "name": "deploy"
                 *     }
                 */
                "application/merge-patch+json": {
                    /**
                     * @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.
                     * @example deploy
                     */
                    name?: string;
                };
            };
        };
        responses: {
            200: components["responses"]["ApiKey"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example key_2hTq8LcN5wYfKb0ZrVxPsd */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Time that the old key works beside the new one; 0 ends it at once.
                     * @default 86400
                     * @example 3600
                     */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            201: components["responses"]["IssuedApiKeyCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    auditLog: {
        parameters: {
            query?: {
                /** @description An action such as `api_key.revoke`, or a refused operation. */
                action?: string;
                /** @description The id of the actor: an account, or its key, client or token. Owners can search for their own credentials. */
                actor?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
                outcome?: "done" | "refused";
                /** @description RFC 3339; at this time or later. */
                since?: string;
                /** @description The id of the subject. */
                subject?: string;
                /** @description RFC 3339; before this time. */
                until?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019b8a3c-7d00-7c11-9d8e-2f1a5b6c7d8e",
                     *           "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *           "action": "api_key.create",
                     *           "outcome": "done",
                     *           "fields": [],
                     *           "reason": null,
                     *           "subject": "key_2hTq8LcN5wYfKb0ZrVxPsd",
                     *           "actor": {
                     *             "kind": "owner",
                     *             "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *             "credential": "key_7cJk2RsM9vXeHa4UzTwQbn",
                     *             "address": "192.0.2.10"
                     *           },
                     *           "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *           "created_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["AuditEntry"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    serviceClients: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "cli_4nVq2Yc8WfKsR0bZxLtPgd",
                     *           "name": "nightly import",
                     *           "scopes": [
                     *             "images:read",
                     *             "images:write"
                     *           ],
                     *           "status": "active",
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "created_by": "person",
                     *           "expires_at": null,
                     *           "previous_secret_expires_at": null,
                     *           "last_used_at": null,
                     *           "revoked_at": null
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["ServiceClient"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createServiceClient: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "deploy",
                 *       "scopes": [
                 *         "images:read",
                 *         "images:write"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description End of the client; null, or absent, for none. */
                    expires_at?: string | null;
                    /**
                     * @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.
                     * @example deploy
                     */
                    name: string;
                    /**
                     * @description A subset of the creator's own, without those that only roles and keys bring.
                     * @example [
                     *       "images:read",
                     *       "images:write"
                     *     ]
                     */
                    scopes: ("account:read" | "account:write" | "account:security" | "account:admin" | "images:read" | "images:write" | "config:read" | "config:admin" | "env:read" | "webhooks:read" | "webhooks:write" | "events:publish" | "management:read")[];
                };
            };
        };
        responses: {
            201: components["responses"]["IssuedServiceClientCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    serviceClient: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example cli_4nVq2Yc8WfKsR0bZxLtPgd */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ServiceClient"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    revokeServiceClient: {
        parameters: {
            query?: {
                /** @description True to revoke also the credentials that it created, directly or through others. */
                revoke_created?: "true" | "false";
            };
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example cli_4nVq2Yc8WfKsR0bZxLtPgd */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Revocation"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    renameServiceClient: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example cli_4nVq2Yc8WfKsR0bZxLtPgd */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "deploy"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.
                     * @example deploy
                     */
                    name?: string;
                };
                /**
                 * @example {
                 *       "name": "deploy"
                 *     }
                 */
                "application/merge-patch+json": {
                    /**
                     * @description 1–100 characters, trimmed, one of them visible and none invisible but ZWJ and ZWNJ in words.
                     * @example deploy
                     */
                    name?: string;
                };
            };
        };
        responses: {
            200: components["responses"]["ServiceClient"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateServiceClientSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example cli_4nVq2Yc8WfKsR0bZxLtPgd */
                client_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Time that the old secret works beside the new one; 0 ends it at once.
                     * @default 86400
                     * @example 3600
                     */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            200: components["responses"]["IssuedServiceClient"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    cancelContactChange: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    confirmContactAddress: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "8330 8925"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The code from the mail, with or without spaces.
                     * @example 8330 8925
                     */
                    code: string;
                };
            };
        };
        responses: {
            200: components["responses"]["Account"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    resendContactCode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["SentCodeAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    contactLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example 6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            /** @description There is no such resource, or it belongs to someone else. */
            404: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "not_found",
                     *         "message": "There is nothing here.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#not_found"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            406: components["responses"]["NotAcceptable"];
            /** @description Gone. */
            410: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "invalid_request",
                     *         "message": "The request is not well formed.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    followContactLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example 6mPq1Zc8XfKsR0bYxLtVgd4NnWcJuEa2 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            400: components["responses"]["BadRequest"];
            /** @description The credential lacks a scope, or the state of the account forbids it. */
            403: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "forbidden",
                     *         "message": "This is not permitted.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#forbidden"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            /** @description There is no such resource, or it belongs to someone else. */
            404: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "not_found",
                     *         "message": "There is nothing here.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#not_found"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            406: components["responses"]["NotAcceptable"];
            /** @description Gone. */
            410: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "invalid_request",
                     *         "message": "The request is not well formed.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                    /** @example <!doctype html><title>Keep the previous contact address</title> */
                    "text/html": string;
                };
            };
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    revokeCurrentApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    accountExport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["AccountExport"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    identities: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "idn_3dWq9LcN5wYfKb0ZrVxPsd",
                     *           "issuer": "corp",
                     *           "subject_hint": "9f31…",
                     *           "current": true,
                     *           "created_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["Identity"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    linkIdentity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI5ZjMxIn0.c2lnbmF0dXJl"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description A valid access token of the other login.
                     * @example eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI5ZjMxIn0.c2lnbmF0dXJl
                     */
                    token: string;
                };
            };
        };
        responses: {
            200: components["responses"]["Identity"];
            201: components["responses"]["IdentityCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    identity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example idn_3dWq9LcN5wYfKb0ZrVxPsd */
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Identity"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    unlinkIdentity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example idn_3dWq9LcN5wYfKb0ZrVxPsd */
                identity_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    requestAccountRecovery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["RecoveryRequestAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    accountSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["AccountSettings"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    replaceAccountSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "locale": "en",
                 *       "timezone": "Europe/London",
                 *       "notifications": {
                 *         "product_updates": true
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @example en */
                    locale: string;
                    notifications: {
                        /** @description True to get news about the product. */
                        product_updates: boolean;
                    };
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone: string;
                };
            };
        };
        responses: {
            200: components["responses"]["AccountSettings"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateAccountSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "notifications": {
                 *         "product_updates": true
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @example en */
                    locale?: string;
                    notifications?: {
                        /** @description True to get news about the product. */
                        product_updates?: boolean;
                    };
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone?: string;
                };
                /**
                 * @example {
                 *       "notifications": {
                 *         "product_updates": true
                 *       }
                 *     }
                 */
                "application/merge-patch+json": {
                    /** @example en */
                    locale?: string;
                    notifications?: {
                        /** @description True to get news about the product. */
                        product_updates?: boolean;
                    };
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone?: string;
                };
            };
        };
        responses: {
            200: components["responses"]["AccountSettings"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    signIns: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "sgn_5kTz8Nq1XfLcW3bRyVpJhd",
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "last_used_at": "2026-01-02T11:30:00.000Z",
                     *           "browser": "Firefox, Linux",
                     *           "address": "203.0.113.7",
                     *           "current": true
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["SignIn"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    signOutEverywhere: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    endSignIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example sgn_5kTz8Nq1XfLcW3bRyVpJhd */
                sign_in_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    disableAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "disabled",
                 *       "reason": "I moved to another product."
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Why, for the audit.
                     * @default null
                     */
                    reason?: string | null;
                    /** @constant */
                    status: "disabled";
                };
            };
        };
        responses: {
            200: components["responses"]["Account"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    stepUp: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "code": "8330 8925"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The code from the mail, with or without spaces.
                     * @example 8330 8925
                     */
                    code?: string;
                };
            };
        };
        responses: {
            200: components["responses"]["StepUp"];
            202: components["responses"]["SentCodeAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    accounts: {
        parameters: {
            query?: {
                created_after?: string;
                created_before?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
                /** @description True for accounts whose owners ask for their recovery, false for the others. */
                recovery_requested?: "true" | "false";
                /** @description A part of the name or a contact address, or a whole id. */
                search?: string;
                status?: "pending" | "active" | "suspended" | "disabled" | "deleted";
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *           "display_name": "Ada Byron",
                     *           "contact_address": "ada@example.org",
                     *           "contact_address_verified": true,
                     *           "pending_contact_address": null,
                     *           "locale": "en",
                     *           "timezone": "Europe/London",
                     *           "status": "suspended",
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "updated_at": "2026-01-02T10:30:00.000Z",
                     *           "links": {
                     *             "self": "/api/accounts/acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *             "status": "/api/accounts/acc_5Yb0cPq7TnV2sKxW9mRdLh/status",
                     *             "audit": "/api/accounts/acc_5Yb0cPq7TnV2sKxW9mRdLh/audit/"
                     *           },
                     *           "roles": [
                     *             "owner"
                     *           ],
                     *           "status_changed_at": "2026-01-03T08:15:00.000Z",
                     *           "status_changed_by": "administrator",
                     *           "status_reason": "Payment failed three times.",
                     *           "recovery_requested_at": null,
                     *           "purged_at": null
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["AdministeredAccount"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    account: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example acc_5Yb0cPq7TnV2sKxW9mRdLh */
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["AdministeredAccount"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    setAccountRoles: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example acc_5Yb0cPq7TnV2sKxW9mRdLh */
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "roles": [
                 *         "owner",
                 *         "operator"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * @description All roles of the account.
                     * @example [
                     *       "owner",
                     *       "operator"
                     *     ]
                     */
                    roles?: ("viewer" | "owner" | "operator" | "admin")[];
                };
                /**
                 * @example {
                 *       "roles": [
                 *         "owner",
                 *         "operator"
                 *       ]
                 *     }
                 */
                "application/merge-patch+json": {
                    /**
                     * @description All roles of the account.
                     * @example [
                     *       "owner",
                     *       "operator"
                     *     ]
                     */
                    roles?: ("viewer" | "owner" | "operator" | "admin")[];
                };
            };
        };
        responses: {
            200: components["responses"]["AdministeredAccount"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    accountAuditLog: {
        parameters: {
            query?: {
                /** @description An action such as `api_key.revoke`, or a refused operation. */
                action?: string;
                /** @description The id of the actor: an account, or its key, client or token. Owners can search for their own credentials. */
                actor?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
                outcome?: "done" | "refused";
                /** @description RFC 3339; at this time or later. */
                since?: string;
                /** @description The id of the subject. */
                subject?: string;
                /** @description RFC 3339; before this time. */
                until?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example acc_5Yb0cPq7TnV2sKxW9mRdLh */
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019b8a3c-7d00-7c11-9d8e-2f1a5b6c7d8e",
                     *           "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *           "action": "api_key.create",
                     *           "outcome": "done",
                     *           "fields": [],
                     *           "reason": null,
                     *           "subject": "key_2hTq8LcN5wYfKb0ZrVxPsd",
                     *           "actor": {
                     *             "kind": "owner",
                     *             "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *             "credential": "key_7cJk2RsM9vXeHa4UzTwQbn",
                     *             "address": "192.0.2.10"
                     *           },
                     *           "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *           "created_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["AuditEntry"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    setAccountStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example acc_5Yb0cPq7TnV2sKxW9mRdLh */
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "suspended",
                 *       "reason": "Payment failed three times."
                 *     }
                 */
                "application/json": {
                    /** @description The reason, which the owner reads in the audit. */
                    reason: string;
                    /** @enum {string} */
                    status: "active" | "suspended" | "disabled" | "deleted";
                };
            };
        };
        responses: {
            200: components["responses"]["AdministeredAccount"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    accountsAuditLog: {
        parameters: {
            query?: {
                /** @description An action such as `api_key.revoke`, or a refused operation. */
                action?: string;
                /** @description The id of the actor: an account, or its key, client or token. Owners can search for their own credentials. */
                actor?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
                outcome?: "done" | "refused";
                /** @description RFC 3339; at this time or later. */
                since?: string;
                /** @description The id of the subject. */
                subject?: string;
                /** @description RFC 3339; before this time. */
                until?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019b8a3c-7d00-7c11-9d8e-2f1a5b6c7d8e",
                     *           "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *           "action": "api_key.create",
                     *           "outcome": "done",
                     *           "fields": [],
                     *           "reason": null,
                     *           "subject": "key_2hTq8LcN5wYfKb0ZrVxPsd",
                     *           "actor": {
                     *             "kind": "owner",
                     *             "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *             "credential": "key_7cJk2RsM9vXeHa4UzTwQbn",
                     *             "address": "192.0.2.10"
                     *           },
                     *           "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *           "created_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["AuditEntry"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    settings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["AccountSettings"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    replaceSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "locale": "en",
                 *       "timezone": "Europe/London",
                 *       "notifications": {
                 *         "product_updates": true
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @example en */
                    locale: string;
                    notifications: {
                        /** @description True to get news about the product. */
                        product_updates: boolean;
                    };
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone: string;
                };
            };
        };
        responses: {
            200: components["responses"]["AccountSettings"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "notifications": {
                 *         "product_updates": true
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @example en */
                    locale?: string;
                    notifications?: {
                        /** @description True to get news about the product. */
                        product_updates?: boolean;
                    };
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone?: string;
                };
                /**
                 * @example {
                 *       "notifications": {
                 *         "product_updates": true
                 *       }
                 *     }
                 */
                "application/merge-patch+json": {
                    /** @example en */
                    locale?: string;
                    notifications?: {
                        /** @description True to get news about the product. */
                        product_updates?: boolean;
                    };
                    /**
                     * @description An IANA time zone.
                     * @example Europe/Berlin
                     */
                    timezone?: string;
                };
            };
        };
        responses: {
            200: components["responses"]["AccountSettings"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    configuration: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Config"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    configurationStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: config
                     *     id: 17
                     *     data: {"revision":"17","names":["limits.maxPageSize"],"values":{"limits.maxPageSize":50}}
                     */
                    "text/event-stream": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    environment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Environment"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    configurationStatus: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ConfigStatus"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookAttempts: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                delivery_id?: string;
                endpoint_id?: string;
                /** @description At this time or later. */
                from?: string;
                /** @description Items on the page. */
                limit?: number;
                /** @description Not together with `delivery_id`. */
                result?: "succeeded" | "failed";
                /** @description Before this time. */
                to?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "wha_01kdzq7c9p4r6s8t0v2w5x7y1z",
                     *           "delivery_id": "whd_01kdzq6b8n3p5q7r9s1t2v4w6x",
                     *           "endpoint_id": "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
                     *           "number": 1,
                     *           "started_at": "2026-01-01T09:00:00.000Z",
                     *           "duration_ms": 84,
                     *           "phases": {
                     *             "resolve": 2.1,
                     *             "connect": 8.4,
                     *             "tls": 19.2,
                     *             "send": 0.3,
                     *             "first_byte": 53.5,
                     *             "body": 0.5
                     *           },
                     *           "status": 503,
                     *           "error": null,
                     *           "phase": null,
                     *           "request_headers": {
                     *             "content-type": "application/json",
                     *             "Authorization": "***"
                     *           },
                     *           "response_headers": {
                     *             "retry-after": "60"
                     *           },
                     *           "response": "down for maintenance",
                     *           "decision": "retry",
                     *           "next_attempt_at": "2026-01-01T09:01:00.000Z",
                     *           "counted": true
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookAttempt"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookDeliveries: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                endpoint_id?: string;
                event_id?: string;
                /** @description At this time or later. */
                from?: string;
                /** @description Items on the page. */
                limit?: number;
                status?: "pending" | "held" | "parked" | "succeeded" | "exhausted";
                /** @description Before this time. */
                to?: string;
                /** @description The name of an event, or a prefix that ends in `*`. */
                type?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "whd_01kdzq6b8n3p5q7r9s1t2v4w6x",
                     *           "endpoint_id": "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
                     *           "event_id": "019b7f71-aaf9-7c12-8e5f-0d4d6a2b9c11",
                     *           "event_type": "image.created",
                     *           "status": "exhausted",
                     *           "attempts": 10,
                     *           "last_status": 503,
                     *           "last_error": "status",
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "last_attempt_at": "2026-01-04T12:36:05.000Z",
                     *           "next_attempt_at": null
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookDelivery"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whd_01kdzq6b8n3p5q7r9s1t2v4w6x */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookDelivery"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    retryWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whd_01kdzq6b8n3p5q7r9s1t2v4w6x */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["WebhookDeliveryAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookEndpoints: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
                     *           "url": "https://receiver.example/hooks",
                     *           "description": "Order system",
                     *           "event_types": [
                     *             "image.*"
                     *           ],
                     *           "scope": "account",
                     *           "status": "enabled",
                     *           "disabled_reason": null,
                     *           "settings": {
                     *             "retry_schedule_seconds": null,
                     *             "timeout_seconds": null,
                     *             "max_in_flight": null,
                     *             "rate": null,
                     *             "ordered": false,
                     *             "order_hold_seconds": null,
                     *             "filter": null,
                     *             "headers": [],
                     *             "metadata": {},
                     *             "signatures": [],
                     *             "client_certificate": null,
                     *             "api_version": null,
                     *             "format": "envelope"
                     *           },
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "updated_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookEndpoint"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEndpoint"];
            };
        };
        responses: {
            201: components["responses"]["WebhookEndpointWithSecretCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEndpoint"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookEndpoint"];
                "application/merge-patch+json": components["schemas"]["UpdateWebhookEndpoint"];
            };
        };
        responses: {
            200: components["responses"]["WebhookEndpoint"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    enableWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEndpoint"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    pauseWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEndpoint"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    resumeWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEndpoint"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    deletePreviousWebhookEndpointSecrets: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    revealWebhookEndpointSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEndpointSecret"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateWebhookEndpointSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookEndpointSecret"];
            };
        };
        responses: {
            200: components["responses"]["WebhookEndpointWithSecret"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whe_01kdzq5a7m2n4p6q8r0s1t3v5w */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookAttempt"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookEventTypes: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "name": "order.created",
                     *           "description": "An order was placed.",
                     *           "schema": {
                     *             "type": "object",
                     *             "required": [
                     *               "total"
                     *             ],
                     *             "properties": {
                     *               "total": {
                     *                 "type": "string"
                     *               }
                     *             }
                     *           },
                     *           "enforcement": "block",
                     *           "own": true
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookEventType"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createWebhookEventType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEventType"];
            };
        };
        responses: {
            201: components["responses"]["WebhookEventTypeCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookEventType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example order.created */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEventType"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    deleteWebhookEventType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example order.created */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateWebhookEventType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example order.created */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookEventType"];
                "application/merge-patch+json": components["schemas"]["UpdateWebhookEventType"];
            };
        };
        responses: {
            200: components["responses"]["WebhookEventType"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookEvents: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Events at this time or later. */
                from?: string;
                /** @description Items on the page. */
                limit?: number;
                /** @description Events before this time. */
                to?: string;
                /** @description A name, or a prefix that ends in `*`. */
                type?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "order-17-created",
                     *           "type": "order.created",
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "body": "{\"id\":\"order-17-created\",\"type\":\"order.created\",\"data\":{\"order\":17,\"total\":\"12.50\"}}"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookEvent"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    publishWebhookEvents: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PublishEvents"];
            };
        };
        responses: {
            202: components["responses"]["PublishedEventsAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example order-17-created */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookEvent"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookSigningKeys: {
        parameters: {
            query: {
                account_id: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookSigningKeys"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateWebhookSigningKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookEndpointSecret"];
            };
        };
        responses: {
            200: components["responses"]["WebhookSigningKey"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookReplays: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "whr_01kdzq7c9p4r6s8t0v2w5x7y1z",
                     *           "endpoint_id": "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
                     *           "statuses": [
                     *             "exhausted"
                     *           ],
                     *           "event_types": [
                     *             "order.*"
                     *           ],
                     *           "event_ids": [],
                     *           "from": "2026-01-01T09:00:00.000Z",
                     *           "to": "2026-01-01T11:00:00.000Z",
                     *           "rate": 50,
                     *           "status": "running",
                     *           "total": 12000,
                     *           "replayed": 350,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "ended_at": null
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookReplay"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    startWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartWebhookReplay"];
            };
        };
        responses: {
            200: components["responses"]["WebhookReplayCount"];
            202: components["responses"]["WebhookReplayAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whr_01kdzq7c9p4r6s8t0v2w5x7y1z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookReplay"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    cancelWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example whr_01kdzq7c9p4r6s8t0v2w5x7y1z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookReplay"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookSources: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "src_3kVn7RtY1bQzXw5Lm9PdHc",
                     *           "name": "Shop",
                     *           "scheme": "hmac",
                     *           "event_types": null,
                     *           "status": "active",
                     *           "forward": true,
                     *           "ingest_path": "/ingest/src_3kVn7RtY1bQzXw5Lm9PdHc",
                     *           "former_ingest_paths": [],
                     *           "settings": {
                     *             "signature_header": "X-Signature"
                     *           },
                     *           "overlaps_end_at": [],
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "updated_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookSource"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createWebhookSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookSource"];
            };
        };
        responses: {
            201: components["responses"]["WebhookSourceCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookSource"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    deleteWebhookSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateWebhookSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookSource"];
                "application/merge-patch+json": components["schemas"]["UpdateWebhookSource"];
            };
        };
        responses: {
            200: components["responses"]["WebhookSource"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    receivedWebhooks: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Delivery id of the partner. */
                delivery_id?: string;
                /** @description A type of the partner, or a prefix that ends in `*`. */
                event_type?: string;
                /** @description True for those forwarded to the account's endpoints. */
                forwarded?: "true" | "false";
                /** @description Webhooks at this time or later. */
                from?: string;
                /** @description Items on the page. */
                limit?: number;
                /** @description Webhooks before this time. */
                to?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "rcv_5nVq2Yc8WfKsR0bZxLtPgd",
                     *           "delivery_id": "d-1",
                     *           "delivery_id_signed": false,
                     *           "event_type": "order.created",
                     *           "event_type_signed": false,
                     *           "same_content_as": null,
                     *           "forwarded": true,
                     *           "content_type": "application/json",
                     *           "body_bytes": 38,
                     *           "received_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["ReceivedWebhook"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    receivedWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
                /** @example rcv_5nVq2Yc8WfKsR0bZxLtPgd */
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ReceivedWebhookInFull"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    receivedWebhookBody: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
                /** @example rcv_5nVq2Yc8WfKsR0bZxLtPgd */
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": Blob;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rejectedWebhooks: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "rej_01kbdq4v00e8w9x2m5n7p3r6tz",
                     *           "reason": "signature_mismatch",
                     *           "status": 401,
                     *           "body_bytes": 38,
                     *           "address": "192.0.2.10",
                     *           "kept": true,
                     *           "received_id": null,
                     *           "rejected_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["WebhookRejection"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rejectedWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
                /** @example rej_01kbdq4v00e8w9x2m5n7p3r6tz */
                rejection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["WebhookRejectionInFull"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    retryWebhookRejection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
                /** @example rej_01kbdq4v00e8w9x2m5n7p3r6tz */
                rejection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["RetriedWebhookRejection"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    receivedWebhookReplays: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "rpl_01kbdq4v00e8w9x2m5n7p3r6tz",
                     *           "source_id": "src_3kVn7RtY1bQzXw5Lm9PdHc",
                     *           "status": "running",
                     *           "total": 1200,
                     *           "published": 300,
                     *           "missing": 0,
                     *           "rate": 50,
                     *           "ids": null,
                     *           "event_types": [
                     *             "order.*"
                     *           ],
                     *           "from": "2026-01-01T09:00:00.000Z",
                     *           "to": "2026-01-02T09:00:00.000Z",
                     *           "created_at": "2026-01-02T09:00:00.000Z",
                     *           "finished_at": null
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["ReceivedWebhookReplay"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createReceivedWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateReceivedWebhookReplay"];
            };
        };
        responses: {
            200: components["responses"]["ReceivedWebhookReplayCount"];
            202: components["responses"]["ReceivedWebhookReplayAccepted"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    receivedWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
                /** @example rpl_01kbdq4v00e8w9x2m5n7p3r6tz */
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ReceivedWebhookReplay"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    cancelReceivedWebhookReplay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
                /** @example rpl_01kbdq4v00e8w9x2m5n7p3r6tz */
                replay_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ReceivedWebhookReplay"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateWebhookSourceUrl: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSourceUrl"];
            };
        };
        responses: {
            200: components["responses"]["WebhookSource"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateWebhookSourceSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSourceSecret"];
            };
        };
        responses: {
            200: components["responses"]["WebhookSource"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    verifyWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyWebhook"];
            };
        };
        responses: {
            200: components["responses"]["WebhookExplanation"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    serverSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Settings"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    asyncApiDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example asyncapi: 3.0.0 */
                    "application/yaml": Blob;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    apiReference: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>API reference</title> */
                    "text/html": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    errorCodes: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Error codes</title> */
                    "text/html": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    apiReferenceReader: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example  */
                    "text/javascript": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    runQuery: {
        parameters: {
            query?: {
                /** @description The SHA-256 of a document, or its name in the manifest. */
                documentId?: string;
                /** @description A JSON object, whose `persistedQuery` names a document. */
                extensions?: string;
                operationName?: string;
                /** @description The document; without it `documentId` or `extensions` names one. */
                query?: string;
                /** @description A JSON object. */
                variables?: string;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/graphql-response+json": components["schemas"]["GraphqlResponse"];
                    "application/json": components["schemas"]["GraphqlResponse"];
                    "text/event-stream": components["schemas"]["GraphqlResponse"];
                    "text/html": components["schemas"]["GraphqlResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            /** @description The request is not well formed, a parameter is not valid, or a required member is absent. */
            400: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/graphql-response+json": components["schemas"]["GraphqlResponse"];
                    "application/json": components["schemas"]["GraphqlResponse"];
                };
            };
            401: components["responses"]["GraphqlUnauthorized"];
            403: components["responses"]["GraphqlForbidden"];
            /** @description An answer. */
            405: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/graphql-response+json": components["schemas"]["GraphqlResponse"];
                    "application/json": components["schemas"]["GraphqlResponse"];
                };
            };
            406: components["responses"]["GraphqlNotAcceptable"];
            415: components["responses"]["GraphqlUnsupportedMediaType"];
            429: components["responses"]["GraphqlTooManyRequests"];
            431: components["responses"]["GraphqlRequestHeaderFieldsTooLarge"];
            500: components["responses"]["GraphqlInternalServerError"];
            503: components["responses"]["GraphqlServiceUnavailable"];
            504: components["responses"]["GraphqlGatewayTimeout"];
        };
    };
    runOperation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GraphqlRequest"];
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/graphql-response+json": components["schemas"]["GraphqlResponse"];
                    "application/json": components["schemas"]["GraphqlResponse"];
                    "text/event-stream": components["schemas"]["GraphqlResponse"];
                };
            };
            /** @description The request is not well formed, a parameter is not valid, or a required member is absent. */
            400: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/graphql-response+json": components["schemas"]["GraphqlResponse"];
                    "application/json": components["schemas"]["GraphqlResponse"];
                };
            };
            401: components["responses"]["GraphqlUnauthorized"];
            403: components["responses"]["GraphqlForbidden"];
            /** @description An answer. */
            405: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/graphql-response+json": components["schemas"]["GraphqlResponse"];
                    "application/json": components["schemas"]["GraphqlResponse"];
                };
            };
            406: components["responses"]["GraphqlNotAcceptable"];
            408: components["responses"]["GraphqlRequestTimeout"];
            413: components["responses"]["GraphqlPayloadTooLarge"];
            415: components["responses"]["GraphqlUnsupportedMediaType"];
            422: components["responses"]["GraphqlUnprocessableEntity"];
            429: components["responses"]["GraphqlTooManyRequests"];
            431: components["responses"]["GraphqlRequestHeaderFieldsTooLarge"];
            500: components["responses"]["GraphqlInternalServerError"];
            503: components["responses"]["GraphqlServiceUnavailable"];
            504: components["responses"]["GraphqlGatewayTimeout"];
        };
    };
    graphiqlAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example graphiql.css */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example body { margin: 0 } #graphiql { height: 100vh } */
                    "text/css": string;
                    /** @example body { margin: 0 } #graphiql { height: 100vh } */
                    "text/javascript": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    images: {
        parameters: {
            query?: {
                /** @description RFC 3339; later than this. */
                created_after?: string;
                /** @description RFC 3339; earlier than this. */
                created_before?: string;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description Items on the page. */
                limit?: number;
                mime_type?: string;
                status?: "processing" | "ready" | "failed";
                /** @description Images that have this tag. */
                tag?: string;
                visibility?: "private" | "public";
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "img_01kdzq3f9s4r7v2m8c5x6t0b1n",
                     *           "account_id": "acc_5Yb0cPq7TnV2sKxW9mRdLh",
                     *           "url": "https://signalbox.example/images/img_01kdzq3f9s4r7v2m8c5x6t0b1n/content?v=3q2xVb7KpL0d",
                     *           "filename": "harbour.jpg",
                     *           "mime_type": "image/jpeg",
                     *           "width": 3000,
                     *           "height": 2000,
                     *           "size_bytes": 1482133,
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *           "title": "Harbour at dawn",
                     *           "caption": null,
                     *           "alt_text": "Fishing boats in a harbour",
                     *           "tags": [
                     *             "sea"
                     *           ],
                     *           "visibility": "private",
                     *           "status": "ready",
                     *           "animated": false,
                     *           "placeholder": "1QcSHQRnh493V4dIh4eXh1h4kJUI",
                     *           "dominant_color": "#5a7f9c",
                     *           "failure": null,
                     *           "focal_point": null,
                     *           "variants": {
                     *             "thumbnail": "https://signalbox.example/images/img_01kdzq3f9s4r7v2m8c5x6t0b1n/content?width=200&height=200&fit=cover&v=3q2xVb7KpL0d",
                     *             "small": "https://signalbox.example/images/img_01kdzq3f9s4r7v2m8c5x6t0b1n/content?width=480&v=3q2xVb7KpL0d",
                     *             "medium": "https://signalbox.example/images/img_01kdzq3f9s4r7v2m8c5x6t0b1n/content?width=960&v=3q2xVb7KpL0d",
                     *             "large": "https://signalbox.example/images/img_01kdzq3f9s4r7v2m8c5x6t0b1n/content?width=1920&v=3q2xVb7KpL0d"
                     *           },
                     *           "created_at": "2026-01-01T09:00:00.000Z",
                     *           "updated_at": "2026-01-01T09:00:00.000Z"
                     *         }
                     *       ],
                     *       "has_more": false
                     *     }
                     */
                    "application/json": {
                        /** @example false */
                        has_more: boolean;
                        items: components["schemas"]["Image"][];
                        /** @description Opaque; send it as `cursor` to get the next page. */
                        next_cursor?: string;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    uploadImage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageUpload"];
                /**
                 * @example {
                 *       "file": "the bytes of harbour.jpg",
                 *       "title": "Harbour at dawn",
                 *       "visibility": "private"
                 *     }
                 */
                "multipart/form-data": {
                    /**
                     * @description At most 2,000 characters.
                     * @default null
                     */
                    alt_text?: string | null;
                    /**
                     * @description At most 2,000 characters.
                     * @default null
                     */
                    caption?: string | null;
                    /**
                     * Format: binary
                     * @description The image's bytes.
                     */
                    file: Blob;
                    /** @description At most 50 tags of 64 characters. */
                    tags?: string[];
                    /**
                     * @description At most 200 characters.
                     * @default null
                     */
                    title?: string | null;
                    /**
                     * @description `public` opens content and variants to everyone; record, list and original stay the owner's.
                     * @default private
                     * @enum {string}
                     */
                    visibility?: "private" | "public";
                };
            };
        };
        responses: {
            201: components["responses"]["ImageCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    image: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Image"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    replaceImage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageReplacement"];
            };
        };
        responses: {
            200: components["responses"]["Image"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    deleteImage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    updateImage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImagePatch"];
                "application/merge-patch+json": components["schemas"]["ImagePatch"];
            };
        };
        responses: {
            200: components["responses"]["Image"];
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    imageContent: {
        parameters: {
            query?: {
                /** @description Six hex digits: what is seen where the image is transparent or does not reach. */
                background?: string;
                /** @description Pixels of the screen for one of the page: width and height times this, at most 4096. */
                dpr?: number;
                /** @description Whether the result may be larger than the original. */
                enlarge?: "true" | "false";
                /** @description How the image goes into a box of both sides. */
                fit?: "inside" | "cover" | "contain" | "fill" | "outside";
                /** @description `auto` keeps the original's type unless Accept names WebP or AVIF. */
                format?: "auto" | "jpeg" | "png" | "webp" | "avif" | "gif";
                /** @description What `fit=cover` keeps in sight: the focal point of the record, or what draws the eye. */
                gravity?: "focal" | "attention";
                /** @description Pixels. */
                height?: number;
                /** @description `copyright` keeps the author and the copyright notice of the file, and nothing else. */
                metadata?: "none" | "copyright";
                /** @description For JPEG, WebP and AVIF; `auto` looks the same in each. */
                quality?: number | "auto";
                /** @description Stands in for credentials, as a signed URL has it. */
                signature?: string;
                /** @description The version, as `url` and `variants` have it: with the present one a public image may be kept for a year. */
                v?: string;
                /** @description Pixels; the other side follows when it is not given. */
                width?: number;
            };
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "image/avif": Blob;
                    "image/gif": Blob;
                    "image/jpeg": Blob;
                    "image/png": Blob;
                    "image/webp": Blob;
                };
            };
            /** @description The requested range. */
            206: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "image/avif": Blob;
                    "image/gif": Blob;
                    "image/jpeg": Blob;
                    "image/png": Blob;
                    "image/webp": Blob;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            416: components["responses"]["RangeNotSatisfiable"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    imageOriginal: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": Blob;
                };
            };
            /** @description The requested range. */
            206: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": Blob;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            416: components["responses"]["RangeNotSatisfiable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    reprocessImage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Image"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createSignedImageUrl: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignedImageUrlRequest"];
            };
        };
        responses: {
            201: components["responses"]["SignedImageUrlCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    imageDeletion: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example img_01kdzq3f9s4r7v2m8c5x6t0b1n */
                image_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ImageDeletion"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    importImage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageImport"];
            };
        };
        responses: {
            201: components["responses"]["ImageCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    rotateImageSigningKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: components["responses"]["ImageSigningKeyCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    createImageUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewImageUpload"];
            };
        };
        responses: {
            201: components["responses"]["NewImageUploadTermsCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    imageUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example upl_01kdzq3f9s4r7v2m8c5x6t0b1n */
                upload_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ImageUploadState"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    cancelImageUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example upl_01kdzq3f9s4r7v2m8c5x6t0b1n */
                upload_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    appendToImageUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description The entity tag that the change is based on; a stale one leads to 409. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `return=minimal` leads to 204. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example upl_01kdzq3f9s4r7v2m8c5x6t0b1n */
                upload_id: string;
            };
            cookie?: never;
        };
        /** @description The bytes. */
        requestBody: {
            content: {
                "application/partial-upload": string;
            };
        };
        responses: {
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    completeImageUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeated requests with the same key have one effect within 24 hours. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example upl_01kdzq3f9s4r7v2m8c5x6t0b1n */
                upload_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ImageUploadCompletion"];
            };
        };
        responses: {
            200: components["responses"]["Image"];
            201: components["responses"]["ImageCreated"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    webhookHandshake: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                source_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example 1158201444 */
                    "text/plain": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    receiveWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                source_id: string;
            };
            cookie?: never;
        };
        /** @description The webhook as its scheme sends it. */
        requestBody: {
            content: {
                /** @example {"id":"d-1","type":"order.created"} */
                "*/*": string;
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example 3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P */
                    "text/plain": string;
                };
            };
            /** @description Taken; done later. */
            202: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example [accepted] */
                    "text/plain": string;
                };
            };
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    confirmWebhookOrigin: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example src_3kVn7RtY1bQzXw5Lm9PdHc */
                source_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example 1158201444 */
                    "text/plain": string;
                };
            };
            204: components["responses"]["NoContent"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    evaluateFlags: {
        parameters: {
            query?: {
                /** @description Content of a stream's event; it is ignored. */
                flagConfigEtag?: string;
                /** @description Content of an event; it is ignored. */
                flagConfigLastModified?: string;
            };
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FlagQuestion"];
            };
        };
        responses: {
            200: components["responses"]["FlagEvaluations"];
            304: components["responses"]["NotModified"];
            /** @description The request is not well formed, a parameter is not valid, or a required member is absent. */
            400: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "invalid_request",
                     *         "message": "The request is not well formed.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"] | components["schemas"]["FlagFailure"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    evaluateFlag: {
        parameters: {
            query?: never;
            header?: {
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @example checkout.new */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FlagQuestion"];
            };
        };
        responses: {
            200: components["responses"]["FlagEvaluation"];
            /** @description The request is not well formed, a parameter is not valid, or a required member is absent. */
            400: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "invalid_request",
                     *         "message": "The request is not well formed.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#invalid_request"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"] | components["schemas"]["FlagFailure"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description There is no such resource, or it belongs to someone else. */
            404: {
                headers: {
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": {
                     *         "code": "not_found",
                     *         "message": "There is nothing here.",
                     *         "request_id": "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
                     *         "doc_url": "/docs/errors#not_found"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Error"] | components["schemas"]["FlagFailure"];
                };
            };
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnprocessableEntity"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    graphqlSchema: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that the client has; a current one leads to 304. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Returned with the answer; a missing, long or malformed id is replaced by a new one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example type Query {
                     *       viewer: Account
                     *     }
                     */
                    "application/graphql": Blob;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["RequestHeaderFieldsTooLarge"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
}
