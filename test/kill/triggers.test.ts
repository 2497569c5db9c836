import { killAll } from './child';
import { triggerStorm } from './trigger-storm';

afterAll(killAll);

it('each of 300 deliveries starts one run and gets one answer, while the service is killed twice', () => triggerStorm(300));
