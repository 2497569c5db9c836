import { killAll } from '../kill/child';
import { triggerStorm } from '../kill/trigger-storm';

afterAll(killAll);

it('each of 2,000 deliveries starts one run and gets one answer, while the service is killed twice', () => triggerStorm(2000));
