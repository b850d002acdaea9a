/** Local addresses at which the receivers of a bench hang. */
export const hangingHosts = Array.from({ length: 8 }, (_, at) => `127.0.0.${at + 2}`);
