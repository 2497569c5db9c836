// `build.mjs` makes these shared modules one script, which compresses better.
import './data/facts';
import './data/follow-log';
import './data/service';
import './decide/focus';
import './parts/copy-button';
import './parts/diff';
import './parts/error-note';
import './parts/fields';
import './parts/json-view';
import './parts/keyboard';
import './parts/said';
import './parts/status-badge';
import './parts/time';
import './parts/use-busy';
import './shell';
