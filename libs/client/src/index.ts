export { ApiError, dataOf, idempotencyKey } from "./answers.ts";
export { type Client, createClient } from "./client.ts";
