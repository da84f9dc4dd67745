// A ParaView script beside the results that shows them at once: the body as tubes coloured by stress, contact forces as
// arrows.

#include "output/file.h"
#include "output/observer.h"

#include <string.h>

enum { NAME_ROOM = 32, BUFFER = 8192 };

static const char script_head[] =
    "# Shows the results beside this file in ParaView:\n"
    "#   paraview --script=view.py     or Tools > Python Shell > Run Script in an open ParaView\n"
    "#   pvpython view.py picture.png [TIME|peak] [FIELD]  writes one picture, at the largest contact force unless "
    "told\n"
    "import json\n"
    "import os\n"
    "import sys\n"
    "from paraview.simple import *\n"
    "\n";

// A string of C may be 4095 characters long.
static const char *const script_body[] = {
    "COLOURS = ['bending_stress', 'stress', 'axial_force', 'strain_energy', 'kinetic_energy']  # the first that is "
    "there\n"
    "UNITS = {'stress': 'Pa', 'bending_stress': 'Pa', 'axial_force': 'N', 'shear_force': 'N', 'shear_y': 'N', "
    "'shear_z': 'N',\n"
    "         'force': 'N', 'moment': 'N m', 'torque': 'N m', 'moment_start': 'N m', 'moment_end': 'N m', 'moment_y': "
    "'N m',\n"
    "         'moment_z': 'N m', 'strain_energy': 'J', 'kinetic_energy': 'J', 'angular_momentum': 'N m s', "
    "'elongation': 'm'}\n"
    "SIZE = [1280, 800]\n"
    "\n"
    "\n"
    "def folder():\n"
    "    try:\n"
    "        return os.path.dirname(os.path.abspath(__file__))\n"
    "    except NameError:  # run from an open ParaView\n"
    "        return FOLDER\n"
    "\n"
    "\n"
    "def read_summary():\n"
    "    \"\"\"What the run has seen in all; empty while it goes on.\"\"\"\n"
    "    path = os.path.join(folder(), 'summary.json')\n"
    "    if not os.path.exists(path):\n"
    "        return {}\n"
    "    with open(path) as f:\n"
    "        return json.load(f)\n"
    "\n"
    "\n"
    "def open_file(name, title):\n"
    "    path = os.path.join(folder(), name)\n"
    "    if not os.path.exists(path):\n"
    "        return None\n"
    "    source = OpenDataFile(path)\n"
    "    RenameSource(title, source)\n"
    "    return source\n"
    "\n"
    "\n"
    "def times_of(source):\n"
    "    return list(source.TimestepValues) or [0.0]\n"
    "\n"
    "\n"
    "def peak_time(summary):\n"
    "    \"\"\"Of the largest contact force; None when there was none.\"\"\"\n"
    "    peaks = [(c['peak_force'], c['peak_force_time']) for c in summary.get('contacts', []) if "
    "c.get('peak_force')]\n"
    "    return max(peaks)[1] if peaks else None\n"
    "\n"
    "\n"
    "def frame_at(times, wanted):\n"
    "    \"\"\"The first frame from then on, which has seen what happened until then; else the last one.\"\"\"\n"
    "    slack = 1e-9 * max(abs(times[0]), abs(times[-1]))\n"
    "    return next((t for t in times if wanted is not None and t >= wanted - slack), times[-1])\n"
    "\n"
    "\n"
    "def show_obstacles(view):\n"
    "    obstacles = open_file('obstacles.vtk', 'obstacles')\n"
    "    if obstacles is None:\n"
    "        return\n"
    "    display = Show(obstacles, view)\n"
    "    display.ColorArrayName = ['POINTS', '']\n"
    "    display.AmbientColor = display.DiffuseColor = [0.8, 0.8, 0.8]\n"
    "    display.Opacity = 0.6\n"
    "\n"
    "\n"
    "def colour(view, display, name, limits):\n"
    "    \"\"\"One scale for the whole run: from -a to a where the field has both signs, else from 0.\"\"\"\n"
    "    ColorBy(display, ('CELLS', name))\n"
    "    table = GetColorTransferFunction(name)\n"
    "    if limits is None:\n"
    "        display.RescaleTransferFunctionToDataRange(False, True)\n"
    "    else:\n"
    "        largest = max(-limits['min'], limits['max']) or 1.0\n"
    "        is_signed = limits['min'] < 0.0\n"
    "        table.ApplyPreset('Cool to Warm' if is_signed else 'Viridis (matplotlib)', True)\n"
    "        table.RescaleTransferFunction(-largest if is_signed else 0.0, largest)\n"
    "    display.SetScalarBarVisibility(view, True)\n"
    "    bar = GetScalarBar(table, view)\n"
    "    bar.Title = '%s, %s' % (name.replace('_', ' '), UNITS[name]) if name in UNITS else name.replace('_', ' ')\n"
    "    bar.ComponentTitle = ''\n"
    "    bar.Orientation, bar.WindowLocation = 'Horizontal', 'Lower Center'\n"
    "    bar.TitleFontSize = bar.LabelFontSize = 14\n"
    "    bar.TitleColor = bar.LabelColor = [0.0, 0.0, 0.0]\n"
    "\n"
    "\n",
    "def show_body(view, body, field, fields):\n"
    "    shape = body\n"
    "    if body.PointData.GetArray('radius') is not None:\n"
    "        surface = ExtractSurface(registrationName='surface of the model', Input=body)\n"
    "        shape = Tube(registrationName='tubes', Input=surface, Scalars=['POINTS', 'radius'])\n"
    "        shape.NumberofSides, shape.Capping, shape.VaryRadius = 24, 1, 'By Absolute Scalar'\n"
    "    display = Show(shape, view)\n"
    "    display.LineWidth = display.PointSize = 4\n"
    "    display.AmbientColor = display.DiffuseColor = [0.2, 0.3, 0.5]\n"
    "    names = [name for name in ([field] if field else COLOURS) if body.CellData.GetArray(name) is not None]\n"
    "    if field and not names:\n"
    "        sys.exit('the frames have no field %r; they have: %s' % (field, ', "
    "'.join(sorted(body.CellData.keys()))))\n"
    "    if names:\n"
    "        colour(view, display, names[0], fields.get(names[0]))\n"
    "\n"
    "\n"
    "def largest_vector(contacts, name, factor):\n"
    "    \"\"\"The largest of the present frame's vectors, times a factor of its own point, by its components.\"\"\"\n"
    "    data = servermanager.Fetch(contacts).GetPointData()\n"
    "    vectors, factors = data.GetArray(name), data.GetArray(factor) if factor else None\n"
    "    count = vectors.GetNumberOfTuples()\n"
    "    all_of = [[x * (factors.GetValue(i) if factors else 1.0) for x in vectors.GetTuple3(i)] for i in "
    "range(count)]\n"
    "    return max(all_of, key=lambda v: dot(v, v), default=[0.0, 0.0, 0.0]), count\n"
    "\n"
    "\n"
    "def show_contacts(view, contacts, size, when):\n"
    "    \"\"\"Arrows that end at the contacts; gives the direction of the largest one.\"\"\"\n"
    "    if contacts is None:\n"
    "        return [0.0, 0.0, 0.0]\n"
    "    contacts.UpdatePipeline(frame_at(times_of(contacts), when))\n"
    "    name, factor, title = 'force_vector', 'force_vector', 'contact forces'\n"
    "    push, count = largest_vector(contacts, 'force_vector', None)\n"
    "    if not any(push):  # an impact within one step has no force: its impulse since the frame before\n"
    "        name, factor, title = 'normal', 'step_impulse', 'contact impulses'\n"
    "        push, count = largest_vector(contacts, name, factor)\n"
    "    if not any(push):\n"
    "        return push\n"
    "    arrows = Glyph(registrationName=title, Input=contacts, GlyphType='Arrow', GlyphMode='All Points')\n"
    "    arrows.OrientationArray = ['POINTS', name]\n"
    "    arrows.ScaleArray = ['POINTS', factor]\n"
    "    # The largest is a fifth of the motion, or a tenth where there are many.\n"
    "    arrows.ScaleFactor = (0.2 if count < 8 else 0.1) * size / dot(push, push) ** 0.5\n"
    "    arrows.GlyphTransform.Translate = [-1.0, 0.0, 0.0]  # the tip, not the tail, at the contact\n"
    "    display = Show(arrows, view)\n"
    "    display.ColorArrayName = ['POINTS', '']\n"
    "    display.AmbientColor = display.DiffuseColor = [0.8, 0.1, 0.1]\n"
    "    return push\n"
    "\n"
    "\n"
    "def unit(v):\n"
    "    length = sum(x * x for x in v) ** 0.5\n"
    "    return [x / length for x in v]\n"
    "\n"
    "\n"
    "def dot(a, b):\n"
    "    return sum(x * y for x, y in zip(a, b))\n"
    "\n"
    "\n"
    "def cross(a, b):\n"
    "    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]\n"
    "\n"
    "\n",
    "def aim_camera(view, low, high, force):\n"
    "    \"\"\"Across the two widest directions of the motion, and not along the largest force.\"\"\"\n"
    "    extent = [b - a for a, b in zip(low, high)]\n"
    "    along_force = max(range(3), key=lambda k: abs(force[k])) if any(force) else -1\n"
    "    depth = min((k for k in (2, 1, 0) if k != along_force), key=lambda k: extent[k])\n"
    "    up = 1 if depth == 2 else 2\n"
    "    is_flat = extent[depth] < 0.05 * max(extent)\n"
    "    towards = [0.0 if is_flat else 0.35] * 3\n"
    "    towards[depth] = -1.0 if depth == 1 else 1.0\n"
    "    towards = unit(towards)\n"
    "    right = unit(cross([float(k == up) for k in range(3)], towards))\n"
    "    above = cross(towards, right)\n"
    "    middle = [0.5 * (a + b) for a, b in zip(low, high)]\n"
    "    span = [sum(abs(axis[k]) * extent[k] for k in range(3)) for axis in (right, above)]\n"
    "    size = sum(x * x for x in extent) ** 0.5 or 1.0\n"
    "    view.CameraParallelProjection = 1\n"
    "    view.CameraFocalPoint = middle\n"
    "    view.CameraPosition = [m + 3.0 * size * d for m, d in zip(middle, towards)]\n"
    "    view.CameraViewUp = above\n"
    "    # Room for what stands round the motion, and below for the scale.\n"
    "    view.CameraParallelScale = 0.65 * max(span[1] * 1.2, span[0] * SIZE[1] / SIZE[0], 0.2 * size)\n"
    "\n"
    "\n"
    "def main():\n"
    "    words = sys.argv[1:] + [''] * 3\n"
    "    picture, wanted, field = words[0], words[1], words[2]\n"
    "    summary = read_summary()\n"
    "    seen = summary.get('frames', {})\n"
    "    view = GetActiveViewOrCreate('RenderView')\n"
    "    view.UseColorPaletteForBackground = 0\n"
    "    view.BackgroundColorMode = 'Single Color'\n"
    "    view.Background = [1.0, 1.0, 1.0]\n"
    "    view.OrientationAxesLabelColor = [0.0, 0.0, 0.0]\n"
    "    body = open_file(BODY, 'model')\n"
    "    if body is None:\n"
    "        sys.exit('there are no frames: %s' % os.path.join(folder(), BODY))\n"
    "    when = frame_at(times_of(body), float(wanted) if wanted not in ('', 'peak') else peak_time(summary))\n"
    "    body.UpdatePipeline(when)\n"
    "    bounds = body.GetDataInformation().GetBounds()\n"
    "    low, high = seen.get('low', bounds[0::2]), seen.get('high', bounds[1::2])\n"
    "    size = sum((b - a) ** 2 for a, b in zip(low, high)) ** 0.5\n"
    "    show_obstacles(view)\n"
    "    show_body(view, body, field, seen.get('fields', {}))\n"
    "    force = show_contacts(view, open_file('contacts.vtk.series', 'contacts'), size,\n"
    "                          when if peak_time(summary) is None else peak_time(summary))\n"
    "    clock = AnnotateTimeFilter(registrationName='time', Input=body, Format='t = {time:.6g} s')\n"
    "    text = Show(clock, view)\n"
    "    text.Color, text.FontSize, text.WindowLocation = [0.0, 0.0, 0.0], 16, 'Upper Left Corner'\n"
    "    scene = GetAnimationScene()\n"
    "    scene.UpdateAnimationUsingDataTimeSteps()\n"
    "    scene.AnimationTime = when\n"
    "    view.ViewTime = when\n"
    "    view.ViewSize = SIZE\n"
    "    aim_camera(view, low, high, force)\n"
    "    Render(view)\n"
    "    if picture:\n"
    "        SaveScreenshot(picture, view, ImageResolution=SIZE)\n"
    "\n"
    "\n"
    "main()\n",
    NULL,
};

// A text as a Python string.
static void script_quote(pcs_file *f, const char *text)
{
    pcs_file_text(f, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') pcs_file_text(f, "\\");
        pcs_file_print(f, "%c", *text);
    }
    pcs_file_text(f, "'");
}

static pcs_status script_open(pcs_observer *self)
{
    const pcs_view *view = self->view;
    pcs_file *f;
    if (view->system->picture == NULL || view->system->picture->npoint == 0) return PCS_OK;
    PCS_TRY(pcs_file_create(self->ctx, view->directory, NAME_ROOM, BUFFER, &f));
    PCS_TRY(pcs_file_open(f, "view.py"));
    pcs_file_text(f, script_head);
    pcs_file_text(f, "FOLDER = ");
    script_quote(f, view->directory);
    pcs_file_text(f, "\nBODY = ");
    script_quote(f, strcmp(view->case_name, "contacts") == 0 ? "model" : view->case_name);
    pcs_file_text(f, " + '.vtk.series'\n");
    for (int i = 0; script_body[i] != NULL; i++) pcs_file_text(f, script_body[i]);
    return pcs_file_commit(f);
}

static pcs_status script_step(pcs_observer *self)
{
    (void)self;
    return PCS_OK;
}

const pcs_observer_ops pcs_observer_script = {
    .name = "script",
    .summary = "view.py, which shows the results in ParaView: tubes coloured by stress, contact forces as arrows",
    .is_default = true,
    .open = script_open,
    .step = script_step,
    .close = script_step,
};
