import { runMessageCommand } from "./message-commands.ts";

const usage = `usage: npm run parked -- list [service]        keys whose first message failed, longest waiting first
                         show <id>             one key with the masked message that blocks it, and its queue
                         retry <id>…           tries the first messages now
                         skip <id>… --reason <why>   moves the first messages to the dead letters; those behind go on
                         --dry-run             only says what would happen
of the system at OPERATIONS_URL, with the key OPERATIONS_KEY; by default that of npm start in this folder
`;

await runMessageCommand("parked", usage);
