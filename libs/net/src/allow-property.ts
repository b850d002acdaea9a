/** Declares a property with the non-public addresses that an outbound client may reach. */
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
