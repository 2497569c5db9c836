import { itComesToTheSame } from './chaos-test';
import { conversationScenario } from './conversation-chaos';

/** The event behind which a message for now stops the model: the worker is lost while it is told. */
const ofNow = 23;
const title = 'every message counts once, every receipt is true, and money goes once, wherever the worker is killed';

itComesToTheSame(title, conversationScenario, ofNow);
