//! Meshes of files in model files: mass, contact, what is seen, and mistakes with their places.

use carom_scene::import::{Options, import};
use carom_scene::scene::Form;
use carom_scene::{Diagnostic, Overrides, Scene, load};
use std::path::PathBuf;

/// A box with edges 1, 2 and 4 from the origin, as a text of quads.
const BOX: &str = "v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nv 0 0 4\nv 1 0 4\nv 1 2 4\nv 0 2 4\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// A folder that goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("carom-meshes-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A model with a body above a floor whose shape is given.
    fn scene(&self, shape: &str) -> Result<Scene, Vec<Diagnostic>> {
        let text = format!(
            "version = 1\nname = \"m\"\n[model]\nkind = \"multibody\"\ngravity = [0, 0, -9.81]\n[contacts]\n\
            material = \"s\"\n[[material]]\nname = \"s\"\nfriction = 0.3\n[[body]]\nname = \"ground\"\n\
            [[body.shape]]\nname = \"floor\"\nkind = \"plane\"\nnormal = [0, 0, 1]\n[[body]]\nname = \"b\"\n\
            position = [0, 0, 0.5]\nattitude = {{ axis = [1, 2, 0], angle = 0.3 }}\nspin = [1, -2, 3]\n{shape}\n\
            [simulation]\nend = 0.5\nstep = 1e-3\n"
        );
        load(&self.write("model.toml", &text), &Overrides::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn good(scene: Result<Scene, Vec<Diagnostic>>) -> Scene {
    scene.unwrap_or_else(|all| panic!("{}", all.iter().map(|e| format!("{e}\n")).collect::<String>()))
}

/// Positions at a time.
fn at(scene: &Scene, t: f64) -> Vec<f64> {
    let scene = scene.with_overrides(&Overrides { end: Some(t), ..Overrides::default() }).unwrap();
    let mut simulation = scene.simulation().unwrap();
    simulation.run(&mut []).unwrap();
    simulation.state().q.clone()
}

#[test]
fn a_box_of_a_file_moves_as_a_box() {
    let folder = Folder::new("box");
    folder.write("box.obj", BOX);
    // two halves that touch in its place
    folder.write("low.obj", &BOX.replace(" 4\nv", " 2\nv").replace(" 4\nf 4", " 2\nf 4"));
    folder.write("high.obj", &BOX.replace(" 0\nv", " 2\nv"));
    let block =
        "[[body.shape]]\nkind = \"box\"\nname = \"s\"\nat = [0.1, 0.2, 0.4]\nsize = [0.2, 0.4, 0.8]\ndensity = 500";
    let mesh = "[[body.shape]]\nkind = \"mesh\"\nname = \"s\"\nfile = \"box.obj\"\nscale = 0.2\ndensity = 500";
    let parts = format!("{mesh}\nparts = [\"low.obj\", \"high.obj\"]");
    let convex = "[[body.shape]]\nkind = \"convex\"\nname = \"s\"\ndensity = 500\npoints = [[0, 0, 0], [0.2, 0, 0], \
        [0, 0.4, 0], [0.2, 0.4, 0], [0, 0, 0.8], [0.2, 0, 0.8], [0, 0.4, 0.8], [0.2, 0.4, 0.8], [0.1, 0.1, 0.1]]";
    let expected = good(folder.scene(block));
    // parts touch at corners between them as well: the same until it lies on a side, where friction is shared
    for (shape, t) in [(mesh, 0.5), (convex, 0.5), (&parts, 0.34)] {
        let there = at(&expected, t);
        let fallen = expected.initial.q[2] - 9.81 / 2.0 * t * t;
        assert!((there[2] - fallen).abs() > 1e-3, "it has not touched the floor yet");
        let scene = good(folder.scene(shape));
        let started = scene.initial.q.iter().zip(&expected.initial.q).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(started, "{shape}: {:?} {:?}", scene.initial.q, expected.initial.q);
        let arrived = at(&scene, t);
        let off = arrived.iter().zip(&there).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(off < 1e-9, "{shape}: {off:e}");
    }
    // it is seen as it is, from its mass centre
    let seen = good(folder.scene(mesh)).space().unwrap();
    let Form::Mesh(form) = &seen.bodies[1].shapes[0].form else { panic!("no mesh is seen") };
    assert_eq!((form.mesh.points().len(), form.mesh.triangles().len()), (8, 12));
    let low = form.points().fold([f64::INFINITY; 3], |low, p| std::array::from_fn(|i| low[i].min(p[i])));
    assert!([-0.1, -0.2, -0.4].iter().zip(low).all(|(a, b)| (a - b).abs() < 1e-15), "{low:?}");
}

#[test]
fn mistakes_in_meshes_have_their_place() {
    let folder = Folder::new("mistakes");
    folder.write("box.obj", BOX);
    folder.write("open.obj", BOX.rsplit_once("f 4").unwrap().0);
    folder.write("wrong.obj", &BOX.replace("f 1 2 6 5", "f 1 2 6 9"));
    folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    folder.write("box.dae", "");
    let heavy = "[[body.shape]]\nkind = \"sphere\"\nradius = 0.1\ndensity = 500\ncontact = false\n";
    let mesh = |rest: &str| format!("{heavy}[[body.shape]]\nkind = \"mesh\"\n{rest}");
    for (shape, line, column, message) in [
        (mesh("file = \"no.stl\""), 29, 8, "the mesh \"no.stl\": it cannot be read"),
        (mesh("file = \"box.dae\""), 29, 8, "meshes are .stl, .obj, .gltf or .glb files, not .dae"),
        (mesh("file = \"wrong.obj\""), 29, 8, "line 11: there is no point 9"),
        (mesh("file = \"open.obj\"\ndensity = 1"), 28, 8, "the surface is open: triangle 2 has no neighbour"),
        (mesh("file = \"flat.obj\""), 28, 8, "the mesh cannot touch: 3 points have no inside"),
        (mesh("file = \"box.obj\"\nscale = 0"), 30, 9, "a scale of zero"),
        (mesh("file = \"box.obj\"\nscale = [1, 2]"), 30, 9, "`scale` has one number or three, found 2"),
        (mesh("file = \"box.obj\"\nparts = [\"no.stl\"]"), 30, 10, "the mesh \"no.stl\""),
        (mesh("file = \"box.obj\"\nradius = 1"), 30, 10, "a mesh has no `radius`"),
        (mesh("scale = 2"), 28, 8, "a mesh needs `file`"),
    ] {
        let all = folder.scene(&shape).expect_err(message);
        let first = &all[0];
        assert!(first.message.contains(message) && first.hint.is_some() | message.contains("needs"), "{first}");
        assert_eq!((first.line, first.column), (line, column), "{first}");
    }
    // a drawing need not be closed, nor have an inside
    good(folder.scene(&mesh("file = \"flat.obj\"\ncontact = false")));
}

#[test]
fn robots_bring_their_meshes() {
    let folder = Folder::new("robot");
    std::fs::create_dir_all(folder.0.join("parts")).unwrap();
    folder.write("parts/box.obj", BOX);
    let urdf = folder.write(
        "r.urdf",
        "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/>\
        <inertia ixx='1' iyy='1' izz='1'/></inertial><collision><origin xyz='1 0 0' rpy='0 0 1.5'/>\
        <geometry><mesh filename='parts/box.obj' scale='0.1 0.1 -0.1'/></geometry></collision></link>\
        <joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>",
    );
    let mjcf = folder.write(
        "r.xml",
        "<mujoco><compiler meshdir='parts'/><asset><mesh file='box.obj' scale='0.1 0.1 0.1'/>\
        <mesh name='p' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody><geom type='plane' size='1 1 1'/>\
        <body pos='0 0 1'><freejoint/><geom type='mesh' mesh='box' density='500'/></body>\
        <body pos='3 0 1'><freejoint/><geom type='mesh' mesh='p' mass='2'/></body></worldbody></mujoco>",
    );
    let options = Options { folder: folder.0.clone(), ..Options::default() };
    let imported = import(&urdf, &options).unwrap_or_else(|all| panic!("{}", all[0]));
    assert!(imported.left_out.is_empty(), "{:?}", imported.summary());
    assert!(imported.text.contains("file = \"parts/box.obj\""), "{}", imported.text);
    let scene = good(load(&folder.write("urdf.toml", &imported.text), &Overrides::default()));
    assert!(matches!(scene.space().unwrap().bodies[1].shapes[0].form, Form::Mesh(_)));

    let imported = import(&mjcf, &options).unwrap_or_else(|all| panic!("{}", all[0]));
    assert!(imported.left_out.is_empty(), "{:?}", imported.summary());
    let scene = good(load(&folder.write("mjcf.toml", &imported.text), &Overrides::default()));
    // a box of 0.1 by 0.2 by 0.4 from its corner, and a corner of a cube with its centre at a quarter
    let q = &scene.initial.q;
    for (k, value) in [(0, 0.05), (1, 0.1), (2, 1.2), (7, 3.25), (8, 0.25), (9, 1.25)] {
        assert!((q[k] - value).abs() < 1e-12, "{k}: {} {value}", q[k]);
    }
    assert!(imported.text.contains("mass = 4.0") && imported.text.contains("mass = 2.0"), "{}", imported.text);
    assert!(imported.text.matches("[[contact]]").count() == 3, "{}", imported.text);
    at(&scene, 0.2);
}
