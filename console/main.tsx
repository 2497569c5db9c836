import { render } from 'preact';
import { Shell } from './shell';

const place = document.getElementById('app');
if (place !== null) render(<Shell />, place);
