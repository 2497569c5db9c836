import '../kernel/agents/agent-tool';
import '../kernel/define/define';
import '../kernel/effects/errors';
import '../kernel/define/classic-middleware';
import '../kernel/calls/lost-calls';
import '../contract/duration';
import '../contract/interrupts';
import '../contract/messages/message-shapes';
import '../contract/record/seen-messages';
import '../contract/record/snapshot-messages';
import '../contract/record/child-runs';
import '../contract/record/tool-outcomes';
import '../kernel/engine/run-result';
import '../kernel/run/weight';
import '../kernel/log/run-log';
import '../kernel/run/standstill';
import '../kernel/define/middleware';
import '../kernel/define/traits';
import '../kernel/engine/run';
import '../kernel/engine/trial';
import '../middleware/deep/workflow';
import '../middleware/plan-execute/workflow';
import '../middleware/index';
import '../middleware/callbacks/index';
import '../middleware/forms/index';

/**
 * Loads the kernel before any workflow, so runs share its code: a copy is a third of the cost of a waiting run. The SDK then freezes the
 * modules, so state belongs into objects of a run.
 */
