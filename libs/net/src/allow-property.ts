/** A property that names what the outbound guard lets through besides public addresses. */
export const outboundAllowProperty = (effect: string) =>
  ({
    type: "list",
    default: [],
    pattern: "\\S+:(\\*|[0-9]{1,5})",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect,
  }) as const;
