// What most pages have. `build.mjs` puts it before each of their scripts: together it compresses better than in one script for each set
// of pages that shares something.
import './data/follow-log';
import './data/service';
import './parts/copy-button';
import './parts/empty-state';
import './parts/error-note';
import './parts/json-view';
import './parts/keyboard';
import './parts/said';
import './parts/said-frame';
import './parts/status-badge';
import './parts/tag';
import './parts/time';
import './shell';
