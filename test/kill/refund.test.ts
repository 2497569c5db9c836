import { itComesToTheSame } from './chaos-test';
import { refundScenario } from './refund-chaos';

itComesToTheSame('no decision is asked twice or lost, and money goes once, wherever the worker is killed', refundScenario);
