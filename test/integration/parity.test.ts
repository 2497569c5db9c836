import { describeScripts } from '../parity/describe-scripts';
import { representatives } from '../parity/seeds';

describeScripts('gate', representatives);
