/**
 * Every failure a user can meet: what happened and what to change. Codes are stable; docs/reference/errors.md is checked against this table.
 * What a provider of models says gets its code in activities/failures.ts.
 */
export const errorTable = {
  // --- starting and finding runs
  'agent-unknown': { status: 404, fix: 'Use the name of an agent that the agents module exports.' },
  'run-unknown': {
    status: 404,
    fix: 'Check the id. Finished runs are kept for the retention of the namespace (30 days with the embedded server).',
  },
  'call-unknown': { status: 404, fix: 'Take the address of a call from `model-start` or `tool-start` in the log of the run.' },
  'run-id-invalid': { status: 400, fix: 'Use 1 to 200 letters, digits and . _ - : @ as an id, starting with a letter or digit.' },
  'run-id-in-use': { status: 409, fix: 'Use a new id, or send the same agent and input to get that run.' },
  'input-invalid': {
    status: 400,
    fix: 'Send a text, a list of messages, or the fields of the input that the agent takes: the message names what does not fit.',
  },
  'input-too-large': { status: 413, fix: 'Run input is limited to 256 KB. Store the large part elsewhere and let a tool read it.' },
  'tool-calls-pending': {
    status: 409,
    fix: 'Make the calls yourself, and start another run with the messages of this one, followed by their results.',
  },
  'options-invalid': { status: 400, fix: 'Correct what the message names in the options or settings of the start.' },
  'run-ended': {
    status: 409,
    fix: 'Start another run, with a new id. One that was cancelled goes on with `holdfast resume`, one that failed with `holdfast retry`.',
  },
  // --- what an agent names
  'agent-invalid': { status: 500, fix: 'Correct the definition of the agent that the message names.' },
  'agents-invalid': {
    status: 500,
    fix: 'Correct the agents module where the message says. It must load in the workflow sandbox, without Node modules and without side effects.',
  },
  'model-unknown': { status: 400, fix: 'Name a model as provider/model with a provider that the configuration has.' },
  'model-key-missing': { status: 400, fix: 'Set the environment variable that the message names on the worker, or choose another model.' },
  'tool-unknown': { status: 400, fix: 'Add the tool to the tools of the configuration, or remove its name from the agent.' },
  'output-unknown': { status: 400, fix: 'Add the schema to the outputs of the configuration, or remove its name from the agent.' },
  'policy-unknown': { status: 400, fix: 'Add the policy to the policies of the configuration, or remove its name from the agent.' },
  'worker-half-missing': { status: 400, fix: 'Add the middleware that the message names to `middleware` of the configuration.' },
  // --- while a run works
  'max-iterations': { status: 500, fix: 'Raise maxIterations of the agent, or tell the model in its instructions when to stop.' },
  'max-tool-iterations': {
    status: 500,
    fix: 'Raise maxToolIterations of the agent, give it `finalize` so that the model answers from what it has, or tell the model in its instructions when to stop.',
  },
  'call-limit': { status: 500, fix: 'Raise the limit of the middleware that the message names, or let it end the agent with a message.' },
  'budget-spent': {
    status: 500,
    fix: 'Give the budget middleware more, or let it ask a person, end the agent or change to a cheaper model.',
  },
  'pii-found': { status: 422, fix: 'Leave out what the message names, or give the pii middleware another strategy for it.' },
  'agent-failed': {
    status: 500,
    fix: 'Correct the agent that the message names, or start another run: it was made by hand, and yielded this error.',
  },
  'agent-endless': {
    status: 500,
    fix: 'Let the agent that the message names wait for a model, a tool, a person or the time between what it does, or let it end.',
  },
  'child-cancelled': {
    status: 409,
    fix: 'Somebody cancelled the run of this isolated agent alone. Cancel the run that it is part of to end both, or start that one again.',
  },
  'transfer-failed': {
    status: 500,
    fix: 'An agent hands over to its sub-agents and to its parent, by their names. Tell the model in its instructions whom there is.',
  },
  'transfers-exceeded': {
    status: 500,
    fix: 'Tell the agents in their instructions who answers when. What is to be done again and again is a loop, or an agent as a tool.',
  },
  'model-failed': {
    status: 502,
    fix: 'Correct what the provider says in the message, such as the name of the model. If it was only busy, retry the run.',
  },
  'model-busy': {
    status: 503,
    fix: 'The provider took no call for as long as `models.patience` says. Raise that, ask the provider for more, or make fewer calls at a time with `models.limits`.',
  },
  'waiting-for-turn': {
    status: 503,
    fix: 'Nothing: the call waits for its turn, holds no slot, and is made by itself. Raise the limit that the message names where the provider or the tool takes more.',
  },
  'model-key-refused': {
    status: 502,
    fix: 'Set a valid key in the variable that the message names and restart the worker, or choose a model that the key may use.',
  },
  'model-response-invalid': {
    status: 502,
    fix: 'The model answered with something that is not a message. Check the provider or the wrapModel layer that the message names.',
  },
  'model-response-too-large': { status: 502, fix: 'A model answer is limited to 1 MB. Lower maxOutputTokens.' },
  'model-response-empty': {
    status: 502,
    fix: 'The model said nothing, also after all attempts. See the message; when its tokens were used up, raise maxOutputTokens.',
  },
  'model-refused': { status: 502, fix: 'The provider refuses this content. Change what is asked for, or choose another model.' },
  'model-context-exceeded': {
    status: 502,
    fix: 'The messages do not fit into the context of the model. Use a compaction middleware, let tools return less, or choose a model with a larger context.',
  },
  'model-response-rejected': {
    status: 502,
    fix: 'Give the model a clearer task, or let shouldRetry of the agent accept more. The message has the reason that shouldRetry gave.',
  },
  'model-retries-exhausted': {
    status: 502,
    fix: 'See the last error in the message. Raise maxRetries in retry of the agent, or give the agent a failover.',
  },
  'model-failover-invalid': { status: 500, fix: 'Let getFailoverModel of the agent return { model } each time that it is asked.' },
  'tool-failed': {
    status: 500,
    fix: "Correct the tool: the message has its error. What it throws goes back to the model, unless the agent says `toolErrors: 'fail'`.",
  },
  'tool-timeout': { status: 504, fix: 'Raise the timeout of the tool, or make it faster.' },
  'attempt-lost': {
    status: 504,
    fix: 'Nothing: the call is made again by itself. Where this repeats, see whether workers are killed, or whether the call takes longer than its timeout.',
  },
  'tool-input-invalid': {
    status: 400,
    fix: 'Describe the argument in the input schema of the tool, or loosen the schema. The message says where the arguments do not fit.',
  },
  'tool-not-found': {
    status: 400,
    fix: 'The model called a tool that the agent does not have. Correct the instructions, or set unknownTool.',
  },
  'tool-result-too-large': {
    status: 500,
    fix: 'Return less, or raise resultLimit of the tool (at most 1 MB). Large data belongs in a store; return a reference.',
  },
  'tool-result-invalid': { status: 500, fix: 'Return something that JSON can hold.' },
  'output-invalid': {
    status: 502,
    fix: 'The answer did not fit the schema of the agent, also after corrections. The message says where; loosen the schema, or say in the instructions what is wanted.',
  },
  'payload-too-large': { status: 500, fix: 'One step may carry at most 1 MB. Shorten what the message names.' },
  'transcript-too-large': { status: 500, fix: 'Use a compaction middleware, or configure external storage for the snapshot of a run.' },
  'hook-failed': { status: 500, fix: 'Correct the hook that the message names.' },
  'hook-stalled': { status: 500, fix: 'The hook waits for something that never comes. Wait only for ctx and next.' },
  'callback-failed': {
    status: 500,
    fix: 'Correct the callback that the message names. What a callback of a tool throws goes back to the model.',
  },
  stopped: { status: 409, fix: 'A StopError ended the run on purpose; its message says why. Start another run when the reason is gone.' },
  'next-left-running': { status: 500, fix: 'Await every promise that next returned before the wrap returns.' },
  'message-invalid': { status: 500, fix: 'Return messages with a role and a list of parts.' },
  'value-not-json': { status: 500, fix: 'Keep only JSON in run-local, session and passed-on values.' },
  'outside-run': { status: 500, fix: 'Call this only inside of a hook, a wrap or a tool of a running agent.' },
  'frame-changed': {
    status: 409,
    fix: 'Undo the change of the code, or let open runs finish under the code that they began with. In a test of recorded histories: record anew what may change.',
  },
  'requests-changed': { status: 409, fix: 'Undo the change of the code. If it is meant, record the history anew.' },
  'retry-impossible': { status: 409, fix: 'Start another run, with a new id. The message says what the failed run lacks to go on.' },
  'resume-impossible': { status: 409, fix: 'Start another run, with a new id. The message says what the cancelled run lacks to go on.' },
  'run-not-cancelled': {
    status: 409,
    fix: 'Only runs that were cancelled are resumed. Look at how this one stands; one that failed goes on with `holdfast retry`.',
  },
  'run-not-failed': {
    status: 409,
    fix: 'Look at how the run stands. One that was cancelled goes on with `holdfast resume`, one that has ended needs another run.',
  },
  'upgrade-failed': {
    status: 503,
    fix: 'Nothing is known of how the run would do under the newest build, so it stays where it is. See the message; try again when workers of both builds run.',
  },
  'run-failed': { status: 500, fix: 'Correct the agent code: the message has the error that it threw, which has no code of its own.' },
  'run-timed-out': { status: 504, fix: 'Raise the deadline of the run.' },
  'run-terminated': { status: 500, fix: 'Somebody, or the server at a limit, terminated the run. See the reason in the message.' },
  'run-stuck': {
    status: 500,
    fix: 'The message says why. A run that has made a step keeps its code: correct it for new runs. End this one with `holdfast terminate`, or go on via `temporal workflow reset`.',
  },
  'worker-missing': {
    status: 503,
    fix: 'Start a worker, such as `npx holdfast dev` or `npx holdfast worker`, and ask again. Messages wait on the server meanwhile.',
  },
  'run-unreadable': {
    status: 422,
    fix: 'Read the run with the codec and the storage with which it was written. One that is none of Holdfast can be ended with `holdfast terminate`.',
  },
  cancelled: {
    status: 409,
    fix: 'Start another run, with a new id, if the work is still wanted, or let this one go on with `holdfast resume`.',
  },
  // --- answers
  'interrupt-unknown': { status: 404, fix: 'List the interrupts of the run and answer one of them by its id.' },
  'interrupt-answered': { status: 409, fix: 'Read the run to see what became of it: the first answer counts.' },
  'interrupt-withdrawn': {
    status: 409,
    fix: 'Read the run to see what became of it: another branch was first, or the code that asked has ended.',
  },
  'interrupt-expired': { status: 409, fix: 'Read the run to see what became of it: its deadline has passed, and its default was used.' },
  'answer-invalid': { status: 400, fix: 'Send an answer that matches what the interrupt asks for. The message says where it differs.' },
  'answer-forbidden': { status: 403, fix: 'Let one of the people answer whom the interrupt names, and say who it is: `by` and `roles`.' },
  'run-busy': {
    status: 503,
    fix: 'Send the answer again. A client of Holdfast does so by itself for 5 seconds, and leaves the answer as a signal after that.',
  },
  'answer-stale': { status: 409, fix: 'The arguments differ from what was shown. Read the interrupt again, then decide.' },
  // --- service
  'request-invalid': {
    status: 400,
    fix: 'Correct the field, the flag or the parameter that the message names. docs/reference has what each request, command and method takes.',
  },
  'client-tools-refused': {
    status: 400,
    fix: 'Leave the tool out, or let the agent take it: set `clientTools` in defineAgent to true or to a list of names.',
  },
  'request-unsupported': {
    status: 400,
    fix: 'Leave out what the message names. docs/reference/protocols.md has what each protocol takes.',
  },
  'response-unknown': { status: 404, fix: 'Use an id that POST /v1/responses of this service answered, and send it whole.' },
  'response-outdated': {
    status: 400,
    fix: 'Name the response of the message in `previous_response_id`, or the last one after it. A conversation does not branch.',
  },
  'method-unknown': { status: 405, fix: 'Use one of the methods that the message names; the header Allow has them, too.' },
  'route-unknown': { status: 404, fix: 'See docs/reference/http.md for the routes.' },
  'host-forbidden': {
    status: 403,
    fix: 'A service on loopback answers only requests to a loopback name. Set `http.hosts` to allow others.',
  },
  'service-closing': { status: 503, fix: 'Ask again when the service is back. The run goes on meanwhile.' },
  'service-unreachable': { status: 503, fix: 'Start the service with `npx holdfast dev`, or give its address with --url.' },
  'queue-in-use': {
    status: 500,
    fix: 'Stop the other process, or give this one a HOLDFAST_DIR or a HOLDFAST_TASK_QUEUE of its own.',
  },
  'port-in-use': {
    status: 500,
    fix: 'Stop the other process, or choose another port: with --port, or with HOLDFAST_PORT.',
  },
  // --- process and server
  'command-invalid': { status: 400, fix: 'See `holdfast --help`, or `holdfast COMMAND --help`.' },
  'config-invalid': {
    status: 500,
    fix: 'Correct what the message names: a field of the configuration file, a tool or a schema in it, or an environment variable.',
  },
  'file-exists': {
    status: 409,
    fix: 'Name a new or an empty folder, such as `npx holdfast init my-agents`, or move what the message names.',
  },
  'config-not-found': {
    status: 500,
    fix: 'Make a project with `npx holdfast init`, create holdfast.config.ts here, or name one with --config.',
  },
  'server-unreachable': {
    status: 503,
    fix: 'Start the server that the message names, or correct its address or namespace (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE or the profile). Without a server of your own: `holdfast dev` has one.',
  },
  'not-a-conversation': {
    status: 409,
    fix: 'Only a run that `client.conversation` began takes messages. Send to another id, or start one there.',
  },
  'conversation-ended': { status: 409, fix: 'Begin another conversation, under another id.' },
  'conversation-full': { status: 429, fix: 'Send again when turns have taken some of the messages that wait.' },
  'message-unknown': {
    status: 404,
    fix: 'Only a message that waits for its turn can be changed or withdrawn. See the queue of the conversation.',
  },
  'conversation-busy': { status: 409, fix: 'Read the thread until its run has ended, or cancel that run. Then send the message again.' },
  'interrupts-open': { status: 409, fix: 'Answer what the message names, all in one request. Then send the message again.' },
  'turn-stopped': { status: 409, fix: 'Somebody stopped the turn. Say in the conversation whether the call is still wanted.' },
  'turn-unknown': { status: 404, fix: 'Only a turn that is at work can be stopped. See the view of the conversation.' },
  'task-unknown': { status: 404, fix: 'Use the id of a task that this agent gave you.' },
  'task-ended': { status: 409, fix: 'Begin another task in the same context: send the message without a taskId.' },
  'protocol-unsupported': {
    status: 400,
    fix: 'Use what the card of the agent says, and docs/reference/protocols.md.',
  },
  'push-refused': {
    status: 400,
    fix: 'Name a URL to which `a2a.push.to` of the configuration lets notifications go, and at most 10 receivers for a task.',
  },
  'message-withdrawn': { status: 409, fix: 'Somebody took the message back before its turn. Send another one.' },
  'server-busy': {
    status: 503,
    fix: 'Ask less often, or let the server answer more: frontend.namespaceRPS.visibility in its dynamic configuration.',
  },
  'server-unavailable': {
    status: 503,
    fix: 'Install the Temporal CLI, or Go 1.25 or newer so that it can be built, or set TEMPORAL_ADDRESS.',
  },
  'server-locked': {
    status: 500,
    fix: 'Another process starts or runs a server on this directory. Use that one, wait for it, or use another directory.',
  },
  'server-failed': {
    status: 500,
    fix: 'See the end of its log in the message. The whole log is server.log in the directory of the embedded server.',
  },
  'disk-full': {
    status: 507,
    fix: 'Free space on the disk that the message names, or give HOLDFAST_DIR another one. Open runs go on then.',
  },
  'files-exhausted': {
    status: 503,
    fix: 'Let this process have more open files (`ulimit -n`), or close what keeps them open. See the message.',
  },
  'server-open': {
    status: 500,
    fix: 'Let Holdfast start the server anew, or give it `--dynamic-config-value \'frontend.httpAllowedHosts=["a long random name"]\'`.',
  },
  'server-outdated': { status: 500, fix: 'Upgrade the server that the message names, or take another one (TEMPORAL_ADDRESS).' },
  'node-unsupported': { status: 500, fix: 'Install one of the versions of Node that the message names.' },
  'packages-differ': {
    status: 500,
    fix: 'Install again with the exact versions that the message names, and run the `holdfast` of the project: `npx holdfast`.',
  },
  'clock-differs': { status: 500, fix: 'Let a time service such as chrony or systemd-timesyncd set the clock of this machine.' },
  'search-attribute-missing': { status: 500, fix: 'Register the search attributes; the message has the command.' },
  'out-of-memory': {
    status: 500,
    fix: 'A hook collects without end. End its run with `holdfast terminate`, soon after a restart: every worker that takes it ends like this one.',
  },
  'observer-failed': { status: 500, fix: 'Correct the observer that the message names. Calls go on without it.' },
  'limits-not-shared': {
    status: 503,
    fix: 'Start the Redis that HOLDFAST_REDIS_URL names, or correct the URL. Runs go on meanwhile: each worker keeps to its limits alone.',
  },
  'retention-short': { status: 500, fix: 'Give the namespace 30 days with the command that the message names, or save what must stay.' },
  'build-unserved': {
    status: 500,
    fix: 'When that build was taken back, nothing. Else start its worker again: new runs then go to it.',
  },
  'build-managed': {
    status: 500,
    fix: 'Let whom the message names make the build current, or take the right away with `temporal worker deployment manager-identity unset`.',
  },
  'build-missing': { status: 500, fix: 'Keep the directory of bundles: it holds the code of runs that are still open.' },
  'build-damaged': {
    status: 500,
    fix: 'Start a worker once with the code of that build on this directory, or put a copy of the file there: the runs then go on.',
  },
  'build-check-failed': {
    status: 500,
    fix: 'See the message. Runs of older builds may wait; the worker tries again by itself, and says no more for as long as it lasts.',
  },
  internal: { status: 500, fix: 'This is a defect of Holdfast. Report it with the message.' },
} as const satisfies Record<string, { status: number; fix: string }>;

export type ErrorCode = keyof typeof errorTable;
