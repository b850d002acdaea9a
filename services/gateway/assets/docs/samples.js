/** Writes a request as a command and as a program. */

/** The path with the example of each parameter. */
export function pathOf({ path, parameters }, readValue = ({ example, name }) => example ?? `{${name}}`) {
  return parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((text, parameter) => text.replace(`{${parameter.name}}`, encodeURIComponent(readValue(parameter))), path);
}

const isPublic = ({ operation }) => (operation.security ?? []).length === 0;

export function curlOf(route) {
  const { method, mediaType, example, root } = route;
  const url = `${String(root).replace(/\/$/, "")}${pathOf(route)}`;
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${quoted(url)}`];
  if (!isPublic(route)) lines.push('-H "X-API-Key: $KEY"');
  if (mediaType === "multipart/form-data") lines.push("-F 'file=@photo.jpg'");
  else if (mediaType) lines.push(`-H ${quoted(`Content-Type: ${mediaType}`)}`, `-d ${quoted(textOf(example))}`);
  return lines.join(" \\\n  ");
}

export function typescriptOf(route) {
  const { method, mediaType, example, root } = route;
  const url = `${String(root).replace(/\/$/, "")}${pathOf(route)}`;
  const headers = [
    ...(isPublic(route) ? [] : ['"X-API-Key": key']),
    ...(mediaType && mediaType !== "multipart/form-data" ? [`"Content-Type": ${JSON.stringify(mediaType)}`] : []),
  ];
  const options = [
    `method: ${JSON.stringify(method.toUpperCase())}`,
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(", ")} }`]),
    ...bodyLines(mediaType, example),
  ];
  const form = mediaType === "multipart/form-data" ? 'const form = new FormData();\nform.append("file", file);\n' : "";
  return `${form}const answer = await fetch(${JSON.stringify(url)}, {\n${options.map((line) => `  ${line},`).join("\n")}\n});
if (!answer.ok) throw new Error((await answer.json()).error.code);
${method === "delete" ? "" : "const result = await answer.json();\n"}`;
}

function bodyLines(mediaType, example) {
  if (!mediaType) return [];
  if (mediaType === "multipart/form-data") return ["body: form"];
  if (typeof example === "string") return [`body: ${JSON.stringify(example)}`];
  return [`body: JSON.stringify(${JSON.stringify(example ?? {}, null, 2).replaceAll("\n", "\n  ")})`];
}

const textOf = (example) => (typeof example === "string" ? example : JSON.stringify(example ?? {}));

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
