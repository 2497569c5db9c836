/**
 * Every error that users can meet, with advice. Codes are stable, and docs/reference/errors.md lists them. activities/failures.ts sets the
 * codes of provider errors.
 */
export const errorTable = {
  // --- starting and finding runs
  'agent-unknown': { status: 404, fix: 'Use the name of an agent that the agents module exports.' },
  'run-unknown': {
    status: 404,
    fix: 'Check the id. Finished runs are kept for the retention of the namespace (embedded server: 30 days).',
  },
  'call-unknown': { status: 404, fix: 'Take the address from `model-start` or `tool-start` in the log of the run.' },
  'run-id-invalid': { status: 400, fix: 'Use 1 to 200 letters, digits and . _ - : @, starting with a letter or digit.' },
  'run-id-in-use': { status: 409, fix: 'Use a new id, or the agent and input of that run.' },
  'input-invalid': {
    status: 400,
    fix: 'Correct the part of the input that the message names.',
  },
  'input-too-large': { status: 413, fix: 'Store large data elsewhere and let a tool read it. The input of a run has at most 256 KB.' },
  'tool-calls-pending': {
    status: 409,
    fix: 'Make the calls, and start another run with the messages and the results.',
  },
  'options-invalid': { status: 400, fix: 'Correct the option or setting that the message names.' },
  'run-ended': {
    status: 409,
    fix: 'Start another run. `holdfast resume` continues a cancelled run, `holdfast retry` a failed one.',
  },
  // --- what an agent names
  'agent-invalid': { status: 500, fix: 'Correct the definition that the message names.' },
  'agents-invalid': {
    status: 500,
    fix: 'Correct the module. It must load in the workflow sandbox, without Node modules or side effects.',
  },
  'model-unknown': { status: 400, fix: 'Name the model as provider/model, with a configured provider.' },
  'model-key-missing': {
    status: 400,
    fix: 'Set the environment variable in the message on the worker, or name another model in `models.names`.',
  },
  'tool-unknown': { status: 400, fix: 'Add the tool to `tools` of the configuration, or remove its name.' },
  'output-unknown': { status: 400, fix: 'Add the schema to `outputs` of the configuration, or remove its name.' },
  'policy-unknown': { status: 400, fix: 'Add the policy to `policies` of the configuration, or remove its name.' },
  'worker-half-missing': { status: 400, fix: 'Add the middleware to `middleware` of the configuration.' },
  // --- while a run works
  'max-iterations': { status: 500, fix: 'Raise maxIterations, or tell the model in the instructions when to stop.' },
  'max-tool-iterations': {
    status: 500,
    fix: 'Raise maxToolIterations, set `finalize`, or tell the model when to stop.',
  },
  'call-limit': { status: 500, fix: 'Raise the limit, or let the middleware end the agent with a message.' },
  'budget-spent': {
    status: 500,
    fix: 'Raise the budget, or let the middleware ask a person, end the agent or choose a cheaper model.',
  },
  'pii-found': { status: 422, fix: 'Leave out the data, or choose another strategy of the middleware.' },
  'agent-failed': {
    status: 500,
    fix: 'Correct the agent that the message names, or start another run.',
  },
  'agent-endless': {
    status: 500,
    fix: 'Let the agent wait for a model, a tool, a person or time, or let it end.',
  },
  'child-cancelled': {
    status: 409,
    fix: 'Cancel the parent run to end both, or start the isolated agent again.',
  },
  'transfer-failed': {
    status: 500,
    fix: 'Name the sub-agents and the parent in the instructions of the agent.',
  },
  'transfers-exceeded': {
    status: 500,
    fix: 'Say in the instructions which agent answers. For repeated work use a loop, or an agent as a tool.',
  },
  'model-failed': {
    status: 502,
    fix: 'Correct the cause in the message, or retry the run after an outage.',
  },
  'model-busy': {
    status: 503,
    fix: 'Raise `models.patience`, ask the provider for more, or lower `models.limits`.',
  },
  'waiting-for-turn': {
    status: 503,
    fix: 'Nothing: the call is made at its turn. Raise the limit if the provider or tool takes more.',
  },
  'model-key-refused': {
    status: 502,
    fix: 'Set a valid key in the named variable and restart the worker, or choose another model.',
  },
  'model-response-invalid': {
    status: 502,
    fix: 'Check the provider or the wrapModel layer that the message names.',
  },
  'model-response-too-large': { status: 502, fix: 'Lower maxOutputTokens.' },
  'model-response-empty': {
    status: 502,
    fix: 'Read the message. If the tokens were used up, raise maxOutputTokens.',
  },
  'model-refused': { status: 502, fix: 'Change the request, or choose another model.' },
  'model-context-exceeded': {
    status: 502,
    fix: 'Use a compaction middleware, let tools return less, or choose a model with a larger context.',
  },
  'model-response-rejected': {
    status: 502,
    fix: 'Give the model a clearer task, or let shouldRetry accept more.',
  },
  'model-retries-exhausted': {
    status: 502,
    fix: 'See the last error in the message. Raise maxRetries of the agent, or add a failover.',
  },
  'model-failover-invalid': { status: 500, fix: 'Let getFailoverModel return { model } in every case.' },
  'tool-failed': {
    status: 500,
    fix: "Correct the tool: the message has its error. Only `toolErrors: 'fail'` ends the run.",
  },
  'tool-timeout': { status: 504, fix: 'Raise the timeout of the tool, or make the tool faster.' },
  'attempt-lost': {
    status: 504,
    fix: 'Nothing: the call is repeated. If losses repeat, check the workers and the timeout of the call.',
  },
  'tool-input-invalid': {
    status: 400,
    fix: 'Describe the argument in the schema of the tool, or loosen the schema.',
  },
  'tool-not-found': {
    status: 400,
    fix: 'Correct the instructions, or set unknownTool.',
  },
  'tool-result-too-large': {
    status: 500,
    fix: 'Return less, return a reference to a store, or raise resultLimit (at most 1 MB).',
  },
  'tool-result-invalid': { status: 500, fix: 'Return a result that JSON can hold.' },
  'output-invalid': {
    status: 502,
    fix: 'Loosen the schema where the message says, or describe the value in the instructions.',
  },
  'payload-too-large': { status: 500, fix: 'Shorten the value that the message names.' },
  'transcript-too-large': { status: 500, fix: 'Use a compaction middleware, or configure external storage for snapshots.' },
  'hook-failed': { status: 500, fix: 'Correct the hook that the message names.' },
  'hook-stalled': { status: 500, fix: 'Let the hook wait only for ctx and next.' },
  'callback-failed': {
    status: 500,
    fix: 'Correct the callback that the message names.',
  },
  stopped: { status: 409, fix: 'Start another run when the reason in the message is gone.' },
  'next-left-running': { status: 500, fix: 'Await every promise of next before the wrap returns.' },
  'message-invalid': { status: 500, fix: 'Return messages with a role and a list of parts.' },
  'value-not-json': { status: 500, fix: 'Keep only JSON in run-local, session and passed-on values.' },
  'outside-run': { status: 500, fix: 'Call the function only in a hook, wrap or tool of a running agent.' },
  'frame-changed': {
    status: 409,
    fix: 'Undo the change, or let open runs finish under the old code. In a test, record histories anew after an intended change.',
  },
  'requests-changed': { status: 409, fix: 'Undo the change, or record the history anew.' },
  'retry-impossible': { status: 409, fix: 'Start another run, with a new id.' },
  'resume-impossible': { status: 409, fix: 'Start another run, with a new id.' },
  'run-not-cancelled': {
    status: 409,
    fix: 'Check the status. A failed run continues with `holdfast retry`.',
  },
  'run-not-failed': {
    status: 409,
    fix: 'Check the status. A cancelled run continues with `holdfast resume`.',
  },
  'upgrade-failed': {
    status: 503,
    fix: 'Try again when workers of both builds run. The run stays on its build.',
  },
  'run-failed': { status: 500, fix: 'Correct the code that threw the error in the message.' },
  'run-timed-out': { status: 504, fix: 'Raise the deadline of the run.' },
  'run-terminated': { status: 500, fix: 'See the reason in the message.' },
  'run-stuck': {
    status: 500,
    fix: 'Correct the code for new runs. End this run with `holdfast terminate`, or use `temporal workflow reset`.',
  },
  'worker-missing': {
    status: 503,
    fix: 'Start a worker, for example with `npx holdfast worker`, and ask again.',
  },
  'run-unreadable': {
    status: 422,
    fix: 'Read the run with its codec and storage. End a foreign run with `holdfast terminate`.',
  },
  cancelled: {
    status: 409,
    fix: 'Start another run with a new id, or continue this run with `holdfast resume`.',
  },
  // --- answers
  'interrupt-unknown': { status: 404, fix: 'List the interrupts of the run, and answer an interrupt of the list.' },
  'interrupt-answered': { status: 409, fix: 'Read the run. The first answer counts.' },
  'interrupt-withdrawn': {
    status: 409,
    fix: 'Read the run. No answer is needed.',
  },
  'interrupt-expired': { status: 409, fix: 'Read the run to see how it continued after the deadline.' },
  'answer-invalid': { status: 400, fix: 'Correct the answer where the message says.' },
  'answer-forbidden': { status: 403, fix: 'Let a person answer whom the interrupt names, and send `by` and `roles`.' },
  'run-busy': {
    status: 503,
    fix: 'Send the answer again. A Holdfast client repeats for 5 s, then leaves the answer as a signal.',
  },
  'answer-stale': { status: 409, fix: 'Read the interrupt again, then decide.' },
  // --- service
  'request-invalid': {
    status: 400,
    fix: 'Correct the field, the flag or the parameter that the message names.',
  },
  'client-tools-refused': {
    status: 400,
    fix: 'Leave the tool out, or allow the tool with `clientTools` of the agent.',
  },
  'request-unsupported': {
    status: 400,
    fix: 'Leave out the named part. See docs/reference/protocols.md.',
  },
  'response-unknown': { status: 404, fix: 'Use a whole id that POST /v1/responses of this service answered.' },
  'response-outdated': {
    status: 400,
    fix: 'Set `previous_response_id` to the response in the message, or to a later one.',
  },
  'method-unknown': { status: 405, fix: 'Use a method of the message, or of the header Allow.' },
  'route-unknown': { status: 404, fix: 'See docs/reference/http.md for the routes.' },
  'host-forbidden': {
    status: 403,
    fix: 'Use a loopback name, or allow the name with `http.hosts`.',
  },
  'service-closing': { status: 503, fix: 'Ask again when the service is back. The run continues.' },
  'service-unreachable': { status: 503, fix: 'Start the service with `npx holdfast dev`, or give its address with --url.' },
  'queue-in-use': {
    status: 500,
    fix: 'Stop the other process, or set another HOLDFAST_DIR or HOLDFAST_TASK_QUEUE.',
  },
  'port-in-use': {
    status: 500,
    fix: 'Stop the other process, or choose another port with --port or HOLDFAST_PORT.',
  },
  // --- process and server
  'command-invalid': { status: 400, fix: 'See `holdfast --help`, or `holdfast COMMAND --help`.' },
  'config-invalid': {
    status: 500,
    fix: 'Correct the field, tool, schema or environment variable that the message names.',
  },
  'file-exists': {
    status: 409,
    fix: 'Name a new or empty folder, or move the file that the message names.',
  },
  'config-not-found': {
    status: 500,
    fix: 'Make a project with `npx holdfast init`, create holdfast.config.ts here, or name a file with --config.',
  },
  'server-unreachable': {
    status: 503,
    fix: 'Start the server, or correct TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE or the profile. `holdfast dev` brings a server.',
  },
  'not-a-conversation': {
    status: 409,
    fix: 'Send to a conversation, or start one with `client.conversation`.',
  },
  'conversation-ended': { status: 409, fix: 'Begin another conversation, under another id.' },
  'conversation-full': { status: 429, fix: 'Send again when turns have taken some of the waiting messages.' },
  'message-unknown': {
    status: 404,
    fix: 'See the queue of the conversation.',
  },
  'conversation-busy': { status: 409, fix: 'Wait until the turn has ended, or cancel the turn.' },
  'interrupts-open': { status: 409, fix: 'Answer all named interrupts in one request, then send the message again.' },
  'turn-stopped': { status: 409, fix: 'Say in the conversation whether the call is still wanted.' },
  'turn-unknown': { status: 404, fix: 'See the view of the conversation.' },
  'task-unknown': { status: 404, fix: 'Use the id of a task of this agent.' },
  'task-ended': { status: 409, fix: 'Send the message without a taskId, to begin another task.' },
  'protocol-unsupported': {
    status: 400,
    fix: 'See the card of the agent and docs/reference/protocols.md.',
  },
  'push-refused': {
    status: 400,
    fix: 'Use a URL that `a2a.push.to` allows, and at most 10 receivers for a task.',
  },
  'message-withdrawn': { status: 409, fix: 'Send another message.' },
  'server-busy': {
    status: 503,
    fix: 'Ask less often, or raise frontend.namespaceRPS.visibility in the dynamic configuration.',
  },
  'server-unavailable': {
    status: 503,
    fix: 'Install the Temporal CLI, or Go 1.25 or newer for a build, or set TEMPORAL_ADDRESS.',
  },
  'server-locked': {
    status: 500,
    fix: 'Use the running server, wait for its end, or choose another directory.',
  },
  'server-failed': {
    status: 500,
    fix: 'Read the end of its log in the message, or server.log in its directory.',
  },
  'disk-full': {
    status: 507,
    fix: 'Free space on the disk, or move HOLDFAST_DIR to another disk. Open runs then continue.',
  },
  'files-exhausted': {
    status: 503,
    fix: 'Raise the limit (`ulimit -n`), or close open files.',
  },
  'server-open': {
    status: 500,
    fix: 'Let Holdfast start the server anew, or start it with `--dynamic-config-value \'frontend.httpAllowedHosts=["a long random name"]\'`.',
  },
  'server-outdated': { status: 500, fix: 'Upgrade the server, or set TEMPORAL_ADDRESS to another server.' },
  'node-unsupported': { status: 500, fix: 'Install a version of Node that the message names.' },
  'packages-differ': {
    status: 500,
    fix: 'Depend on the versions that the message names, in the project, too. Use its `npx holdfast`.',
  },
  'clock-differs': { status: 500, fix: 'Set the clock of the machine with a time service such as chrony or systemd-timesyncd.' },
  'search-attribute-missing': { status: 500, fix: 'Register the search attributes with the command in the message.' },
  'out-of-memory': {
    status: 500,
    fix: 'Correct the hook that collects without end. End the run with `holdfast terminate` soon after a restart, before the run ends the worker again.',
  },
  'observer-failed': { status: 500, fix: 'Correct the observer that the message names.' },
  'limits-not-shared': {
    status: 503,
    fix: 'Start the Redis of HOLDFAST_REDIS_URL, or correct the URL. Runs continue.',
  },
  'retention-short': { status: 500, fix: 'Set 30 days with the command in the message, or save runs that must stay.' },
  'build-unserved': {
    status: 500,
    fix: 'Nothing, if the build was taken back. Otherwise start its worker.',
  },
  'build-managed': {
    status: 500,
    fix: 'Let the manager in the message make the build current, or run `temporal worker deployment manager-identity unset`.',
  },
  'build-missing': { status: 500, fix: 'Keep the directory of bundles, which holds the code of open runs.' },
  'build-damaged': {
    status: 500,
    fix: 'Start a worker with the code of the build on the directory, or restore the file.',
  },
  'build-check-failed': {
    status: 500,
    fix: 'See the message. The worker tries again.',
  },
  internal: { status: 500, fix: 'Report the defect with the message.' },
} as const satisfies Record<string, { status: number; fix: string }>;

export type ErrorCode = keyof typeof errorTable;
