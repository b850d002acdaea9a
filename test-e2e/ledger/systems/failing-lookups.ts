/** Loaded before the programs: look-ups of names fail like those of a resolver that is away, while `file` is there. */
export const failingLookups = (file: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { existsSync } from "node:fs";
    import dns from "node:dns";
    import { syncBuiltinESMExports } from "node:module";
    const away = (name) => Object.assign(new Error("getaddrinfo EAI_AGAIN " + name), { code: "EAI_AGAIN", syscall: "getaddrinfo", hostname: name });
    const isName = (name) => typeof name === "string" && /[a-z]/i.test(name) && !name.includes(":");
    const real = dns.lookup;
    dns.lookup = (name, ...rest) =>
      isName(name) && existsSync(${JSON.stringify(file)}) ? void setImmediate(rest.at(-1), away(name)) : real(name, ...rest);
    for (const key of ["lookup", "resolve", "resolve4", "resolve6"]) {
      const own = dns.promises[key];
      dns.promises[key] = async (name, ...rest) => {
        if (isName(name) && existsSync(${JSON.stringify(file)})) throw away(name);
        return await own(name, ...rest);
      };
    }
    syncBuiltinESMExports();`)}`;
