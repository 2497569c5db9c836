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
import '../kernel/run/fitting';
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
 * The kernel is loaded before any workflow, so that runs share its code and not each has a copy of its own: a third of what a waiting
 * run costs. Its modules are frozen then; they keep nothing between calls but what hangs on an object of a run.
 */
