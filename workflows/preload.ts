import '../kernel/agents/agent-tool';
import '../kernel/define/define';
import '../middleware/callbacks/callbacks';
import '../middleware/callbacks/plugins';
import '../middleware/callbacks/sets';
import '../kernel/effects/errors';
import '../kernel/define/classic-middleware';
import '../middleware/forms/event-senders';
import '../middleware/forms/handlers';
import '../kernel/calls/lost-calls';
import '../contract/duration';
import '../contract/interrupts';
import '../contract/messages/message-shapes';
import '../contract/record/seen-messages';
import '../contract/record/snapshot-messages';
import '../contract/record/child-runs';
import '../contract/record/tool-outcomes';
import '../kernel/engine/run-result';
import '../kernel/run/fitting';
import '../kernel/log/run-log';
import '../kernel/run/standstill';
import '../kernel/define/middleware';
import '../kernel/engine/run';
import '../kernel/engine/trial';
import '../middleware/agents-md/workflow';
import '../middleware/approval/workflow';
import '../middleware/budget/workflow';
import '../middleware/model-call-limit/workflow';
import '../middleware/model-fallback/workflow';
import '../middleware/model-retry/workflow';
import '../middleware/pii/workflow';
import '../middleware/response-cache/workflow';
import '../middleware/tool-call-limit/workflow';
import '../middleware/tool-retry/workflow';
import '../middleware/tool-selector/workflow';
import '../middleware/context-editing/workflow';
import '../middleware/dynamic-prompt/workflow';
import '../middleware/patch-tool-calls/workflow';
import '../middleware/reduction/workflow';
import '../middleware/summarization/workflow';
import '../middleware/deep/workflow';
import '../middleware/filesystem/workflow';
import '../middleware/plan-execute/workflow';
import '../middleware/plan-task/workflow';
import '../middleware/skill/workflow';
import '../middleware/todo/workflow';
import '../middleware/index';
import '../middleware/callbacks/index';
import '../middleware/forms/index';
import '../middleware/tool-search/workflow';

/**
 * Runs once for the sandbox, before any workflow. Temporal records the stack of every promise, with ten frames a third
 * of a run's CPU. One frame still says where an error was thrown.
 *
 * The kernel is loaded here, so that runs share its code and not each has a copy of its own: a third of what a waiting
 * run costs. Its modules are frozen then; they keep nothing between calls but what hangs on an object of a run.
 */
Error.stackTraceLimit = 1;
