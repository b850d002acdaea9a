import { runMessageCommand } from "./message-commands.ts";

const usage = `usage: npm run dead-letters -- list [service]        what was given up, oldest first
                               show <id>             one message with its headers and its masked body
                               replay <id>…          puts messages back for the consumer that gave them up
                               replay-all <service>  the same for all of a service
                               drop <id>… --reason <why>   removes messages for good
                               --dry-run             only says what would happen
of the system at OPERATIONS_URL, with the key OPERATIONS_KEY; by default that of npm start in this folder
`;

await runMessageCommand("dead-letters", usage);
