/** Address of the console with a slash at its end: built files are one folder below it, as the sources of a development server. */
export const consoleUrl = new URL(
  import.meta.env.DEV ? "/console/" : "../",
  import.meta.env.DEV ? location.href : import.meta.url,
);

/** Address of the deployment, which may be below a path. */
export const deploymentUrl = new URL("../", consoleUrl);

/** Address to which the issuer returns after a sign-in. */
export const callbackUrl = new URL("callback", consoleUrl);
