import { runMessageCommand } from "./message-commands.ts";

const usage = `usage: npm run dead-events -- list [service]        what the event log refused for good, oldest first
                              show <id>             one event with its headers and its masked body
                              replay <id>…          puts events back into the outbox of their service
                              replay-all <service>  the same for all of a service
                              drop <id>… --reason <why>   removes events for good
                              --dry-run             only says what would happen
of the system at OPERATIONS_URL, with the key OPERATIONS_KEY; by default that of npm start in this folder
`;

await runMessageCommand("dead-events", usage);
