import { acceptSchemas } from "./accepted-schemas.ts";

/** `npm run accept`: accepts compatible changes of the catalogue, refuses the others. */
try {
  const changed = await acceptSchemas();
  process.stdout.write(
    changed.length === 0 ? "Nothing has changed.\n" : `Accepted:\n${changed.map((file) => `  ${file}\n`).join("")}`,
  );
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
