import { itComesToTheSame } from './chaos-test';
import { conversationScenario } from './conversation-chaos';

/** After this event, a message for now stops the model, so the kill hits the stop. */
const ofNow = 23;
const title = 'every message counts once, every receipt is true, and money goes once, wherever the worker is killed';

itComesToTheSame(title, conversationScenario, ofNow);
