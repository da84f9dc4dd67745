// A ParaView script beside the results that shows them at once: the body as tubes coloured by stress, contact forces as
// arrows.

#include "output/file.h"
#include "output/observer.h"

#include <string.h>

enum { NAME_ROOM = 32, BUFFER = 8192 };

static const char script_head[] =
    "# Shows the results beside this file in ParaView:\n"
    "#   paraview --script=view.py     or Tools > Python Shell > Run Script in an open ParaView\n"
    "#   pvpython view.py picture.png [TIME]  writes one picture, of the last frame or of another\n"
    "import os\n"
    "import sys\n"
    "from paraview.simple import *\n\n";

static const char script_body[] =
    "COLOURS = ['bending_stress', 'stress', 'axial_force', 'strain_energy']  # the first that is there\n\n\n"
    "def folder():\n"
    "    try:\n"
    "        return os.path.dirname(os.path.abspath(__file__))\n"
    "    except NameError:  # run from an open ParaView\n"
    "        return FOLDER\n\n\n"
    "def show_body(view, times):\n"
    "    body = OpenDataFile(os.path.join(folder(), BODY))\n"
    "    body.UpdatePipeline(times(body)[-1])\n"
    "    shape = body\n"
    "    if body.PointData.GetArray('radius') is not None:\n"
    "        surface = ExtractSurface(Input=body)\n"
    "        shape = Tube(Input=surface, Scalars=['POINTS', 'radius'], NumberofSides=24, Capping=1)\n"
    "        shape.VaryRadius = 'By Absolute Scalar'\n"
    "    display = Show(shape, view)\n"
    "    display.LineWidth = 3\n"
    "    for name in COLOURS:\n"
    "        if body.CellData.GetArray(name) is not None:\n"
    "            ColorBy(display, ('CELLS', name))\n"
    "            display.RescaleTransferFunctionToDataRangeOverTime()\n"
    "            display.SetScalarBarVisibility(view, True)\n"
    "            bar = GetScalarBar(GetColorTransferFunction(name), view)\n"
    "            bar.Orientation, bar.WindowLocation = 'Horizontal', 'Lower Center'\n"
    "            bar.TitleFontSize = bar.LabelFontSize = 10\n"
    "            break\n"
    "    return body\n\n\n"
    "def show_contacts(view, times, size):\n"
    "    path = os.path.join(folder(), 'contacts.vtk.series')\n"
    "    if not os.path.exists(path):\n"
    "        return\n"
    "    contacts = OpenDataFile(path)\n"
    "    largest = 0.0\n"
    "    for t in times(contacts):\n"
    "        contacts.UpdatePipeline(t)\n"
    "        largest = max(largest, contacts.PointData['force_vector'].GetRange(-1)[1])\n"
    "    if largest == 0.0:\n"
    "        return\n"
    "    arrows = Glyph(Input=contacts, GlyphType='Arrow', GlyphMode='All Points')\n"
    "    arrows.OrientationArray = ['POINTS', 'force_vector']\n"
    "    arrows.ScaleArray = ['POINTS', 'force_vector']\n"
    "    arrows.ScaleFactor = 0.25 * size / largest  # the largest force is a quarter of the model\n"
    "    display = Show(arrows, view)\n"
    "    display.ColorArrayName = ['POINTS', '']\n"
    "    display.DiffuseColor = [0.8, 0.1, 0.1]\n\n\n"
    "def main():\n"
    "    view = GetActiveViewOrCreate('RenderView')\n"
    "    times = lambda source: list(source.TimestepValues) if len(source.TimestepValues) > 0 else [0.0]\n"
    "    body = show_body(view, times)\n"
    "    low_high = body.GetDataInformation().GetBounds()\n"
    "    size = max(low_high[2 * k + 1] - low_high[2 * k] for k in range(3))\n"
    "    show_contacts(view, times, size)\n"
    "    GetAnimationScene().UpdateAnimationUsingDataTimeSteps()\n"
    "    GetAnimationScene().GoToLast()\n"
    "    if len(sys.argv) > 2:\n"
    "        GetAnimationScene().AnimationTime = float(sys.argv[2])\n"
    "    ResetCamera(view)\n"
    "    Render(view)\n"
    "    if len(sys.argv) > 1 and sys.argv[1].endswith('.png'):\n"
    "        view.ViewSize = [1280, 800]  # letters keep their size\n"
    "        SaveScreenshot(sys.argv[1], view, ImageResolution=[1280, 800])\n\n\n"
    "main()\n";

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
    pcs_file_text(f, script_body);
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
