import { spawn } from "node:child_process";
import { platform } from "node:os";

/** Programs that open a link. Windows parses a command line itself: `rundll32` takes the link as one word. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a link in the person's browser; returns a sentence with the link, for machines that have none. */
export function openInBrowser(link: string): Promise<string> {
  const [program, ...args] = openers[platform()] ?? ["xdg-open"];
  const child = spawn(program, [...args, link], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(`Opened ${link}`));
    child.once("error", () => resolve(`Open ${link}`));
  });
}
