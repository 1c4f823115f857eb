//! Mistakes in robot descriptions have file, line, column and reason. A `¦` marks the place that the first error must
//! point to; it is taken out before the text is read.

use super::read;

const LINK: &str = r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;

fn refused(name: &str, marked: &str, reason: &str) {
    let at = marked.find('¦').unwrap_or_else(|| panic!("no mark: {marked}"));
    let before = &marked[..at];
    let expected =
        (1 + before.matches('\n').count(), 1 + before.rsplit('\n').next().unwrap_or_default().chars().count());
    let text = marked.replace('¦', "");
    let errors = match read(name, &text) {
        Ok(imported) => panic!("{reason}: was imported\n{}", imported.text),
        Err(errors) => errors,
    };
    let first = &errors[0];
    assert!(first.message.contains(reason), "{reason:?} is not in: {first}");
    assert_eq!((first.line, first.column), expected, "{first}");
    assert_eq!(first.file(), name);
}

/// A robot of two links with a joint.
fn urdf(link: &str, joint: &str) -> String {
    format!("<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\">\n{link}\n</link>\n{joint}\n</robot>")
}

const JOINT: &str = r#"<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>"#;

#[test]
fn mistakes_of_urdf() {
    let with = |link: &str| urdf(link, JOINT);
    let on = |joint: &str| urdf(LINK, joint);
    let inside = |inner: &str| {
        on(&format!(r#"<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{inner}</joint>"#))
    };
    for (text, reason) in [
        ("¦<robt/>".to_owned(), "<robt> is no robot description"),
        ("¦<robot name='r'/>".into(), "the robot has no links"),
        ("<robot><link name='a'>¦</robot>".into(), "this is no XML"),
        ("<robot>¦<lnk name='a'/></robot>".into(), "<lnk> is not known here"),
        ("<robot>¦<link/></robot>".into(), "`name` is missing"),
        ("<robot><link name='a'/>\n  <link name='¦a'/></robot>".into(), "two links are called \"a\""),
        ("<robot><link name='a'/>¦<link name='b'/></robot>".into(), "two roots"),
        ("¦<!DOCTYPE a [<!ENTITY b 'c'>]><robot/>".into(), "a document type with entities is not read"),
        (with(&LINK.replace("value=\"1\"", "value=\"¦-1\"")), "-1 is negative"),
        (with(&LINK.replace("value=\"1\"", "value=\"¦one\"")), "\"one\" is no number"),
        (with(&LINK.replace("value=\"1\"", "value=\"¦nan\"")), "is not finite"),
        (with(&LINK.replace("value=\"1\"", "value=\"¦inf\"")), "is not finite"),
        (with(&LINK.replace("value=\"1\"", "value=\"¦1e70\"")), "is too large"),
        (with(&LINK.replace("<inertia ixx=\"1\"", "¦<inertia")), "`ixx` is missing"),
        (with(&LINK.replace("<inertia ixx=\"1\"", "¦<inertia ixx=\"3\"")), "add up to less than"),
        (with(&LINK.replace("<inertia ixx=\"1\"", "¦<inertia ixx=\"-1\"")), "not positive"),
        (with("¦<inertial><inertia ixx='1' iyy='1' izz='1'/></inertial>"), "has a <mass"),
        (with("¦<inertial><mass value='0'/><inertia ixx='0' iyy='0' izz='0'/></inertial>"), "moves and has no mass"),
        (with(&format!("{LINK}<collision><geometry>¦<bx/></geometry></collision>")), "<bx> is not known here"),
        (with(&format!("{LINK}<collision><geometry><box size='¦1 2'/></geometry></collision>")), "3 numbers needed"),
        (with(&format!("{LINK}<collision><geometry><box size='¦1 2 0'/></geometry></collision>")), "not positive"),
        (with(&format!("{LINK}<collision><geometry><sphere radius='¦0'/></geometry></collision>")), "not positive"),
        (with(&format!("{LINK}\n¦<collision/>")), "has no geometry"),
        (
            with(&format!("{LINK}<collision><geometry><mesh filename='¦no.stl'/></geometry></collision>")),
            "is not there",
        ),
        (on(&JOINT.replace("continuous", "¦continous")), "\"continous\" is not known here"),
        (on(&JOINT.replace("link=\"b\"", "link=\"¦c\"")), "there is no link \"c\""),
        (on(&JOINT.replace("<joint", "¦<joint").replace("<child link=\"b\"/>", "")), "has no <child>"),
        (
            on(&format!("{JOINT}\n{}", JOINT.replace("\"j\"", "\"k\"").replace("<child", "¦<child"))),
            "hangs on two joints",
        ),
        (inside("<axis xyz='¦0 0 0'/>"), "the axis has no length"),
        (inside("<axis xyz='0 ¦x 1'/>"), "\"x\" is no number"),
        (inside("¦<limit lower='1' upper='-1'/>"), "is below the lower one"),
        (inside("<dynamics damping='¦-1'/>"), "is negative"),
        (inside("<mimic joint='¦k'/>"), "which is not there"),
        (inside("¦<lmit/>"), "<lmit> is not known here"),
    ] {
        refused("robot.urdf", &text, reason);
    }
}

fn mjcf(inside: &str) -> String {
    format!("<mujoco>\n<worldbody>\n<body name='b'>\n{inside}\n</body>\n</worldbody>\n</mujoco>")
}

#[test]
fn mistakes_of_mjcf() {
    let geom = "<geom size='.1'/>";
    let with = |joint: &str| mjcf(&format!("{joint}{geom}"));
    let top = |section: &str| format!("<mujoco>\n{section}\n<worldbody/>\n</mujoco>");
    let tie = |section: &str| {
        let body = format!("<body name='b'><joint name='j'/>{geom}</body>");
        format!("<mujoco><worldbody>{body}</worldbody>\n<equality>{section}</equality></mujoco>")
    };
    for (text, reason) in [
        ("¦<mujoco/>".to_owned(), "there is no <worldbody>"),
        (top("¦<optoin/>"), "<optoin> is not known here"),
        (top("<compiler angle='¦grad'/>"), "\"grad\" is not known here"),
        (top("<compiler eulerseq='¦xy'/>"), "is no sequence of three axes"),
        (top("<compiler coordinate='¦global'/>"), "global coordinates"),
        (top("<compiler angel='¦degree'/>"), "<compiler> has no `angel`"),
        (top("<option timestep='¦0'/>"), "is not positive"),
        (top("<option gravity='0 ¦up 0'/>"), "\"up\" is no number"),
        (top("<option gravity='¦0 0'/>"), "3 numbers needed, found 2"),
        (top("<default>¦<default/></default>"), "`class` is missing"),
        (top("<default><default class='a'/><default class='¦a'/></default>"), "two classes are called"),
        (top("<include file='¦nothing.xml'/>"), "cannot be read"),
        (top("¦<include/>"), "names its `file`"),
        (top("<asset>¦<mesh name='m'/></asset>"), "has a `file` or a `vertex`"),
        (top("<asset><mesh name='m' vertex='¦0 0 0'/></asset>"), "no list of"),
        (top("<asset><mesh name='m' vertex='¦0 0 0 1 0 0 2 0 0 3 0 0'/></asset>"), "no volume"),
        (mjcf("<joint/>").replace("<body", "¦<body"), "moves and has no mass"),
        (with("<joint type='¦hing'/>"), "\"hing\" is not known here"),
        (with("<joint axis='¦0 0 0'/>"), "the axis has no length"),
        (with("<joint range='¦2 1'/>"), "not above its start"),
        (with("¦<joint limited='true'/>"), "a limited joint needs a `range`"),
        (with("<joint stiffness='¦-1'/>"), "is negative"),
        (with("<joint class='¦c'/>"), "there is no class \"c\""),
        (with("<joint name='j'/>¦<joint name='j' axis='1 0 0'/>"), "two joints are called"),
        (with("<joint/>¦<joint type='ball'/>"), "the only joint of its part"),
        (with("<joint/>¦<joint/>"), "joints that do the same"),
        (with("<joint dampng='¦1'/>"), "<joint> has no `dampng`"),
        (mjcf("<freejoint/>¦<geom/>"), "the geom has no `size`"),
        (mjcf("<freejoint/><geom size='¦-1'/>"), "is not positive"),
        (mjcf("<freejoint/><geom type='box' size='¦1 1'/>"), "3 numbers needed, found 2"),
        (mjcf("<freejoint/><geom type='¦cube' size='1'/>"), "\"cube\" is not known here"),
        (mjcf("<freejoint/><geom type='mesh' mesh='¦m'/>"), "there is no mesh \"m\""),
        (mjcf("<freejoint/><geom type='capsule' size='.1' fromto='¦0 0 0 0 0 0'/>"), "at the same place"),
        (mjcf("<freejoint/><geom size='.1' quat='¦0 0 0 0'/>"), "this is no rotation"),
        (mjcf("<freejoint/>¦<geom size='.1' shellinertia='true'/>"), "mass of a shell"),
        (mjcf("<freejoint/><inertial mass='1' diaginertia='¦1 1 3'/>"), "add up to less than"),
        (mjcf("<freejoint/>¦<inertial mass='1'/>"), "has `diaginertia` or `fullinertia`"),
        (mjcf("<freejoint/>¦<composite/>"), "<composite> cannot be imported"),
        (mjcf(&format!("<freejoint/>{geom}<body>¦<freejoint/>{geom}</body>")), "on the ground alone"),
        (tie("<connect body1='¦c' anchor='0 0 0'/>"), "there is no body \"c\""),
        (tie("¦<connect body1='b'/>"), "`anchor` is missing"),
        (tie("<joint joint1='¦k'/>"), "there is no joint \"k\""),
    ] {
        refused("robot.xml", &text, reason);
    }
}

/// Bombs, loops and towers end with a reason, and soon.
#[test]
fn hostile_files_are_refused() {
    let deep =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", "<body>".repeat(50_000), "</body>".repeat(50_000));
    let error = read("deep.xml", &deep).unwrap_err().remove(0);
    assert!(error.message.contains("are inside each other"), "{error}");
    let wide = format!("<robot>{}</robot>", "<link/>".repeat(600_000));
    let error = read("wide.urdf", &wide).unwrap_err().remove(0);
    assert!(error.message.contains("are not read"), "{error}");
    let bomb = r#"<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><robot name="&b;"/>"#;
    let error = read("bomb.urdf", bomb).unwrap_err().remove(0);
    assert!(error.message.contains("document type"), "{error}");
    let folder = std::env::temp_dir().join(format!("carom-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.xml"), "<mujoco><include file='b.xml'/></mujoco>").unwrap();
    std::fs::write(folder.join("b.xml"), "<mujoco>\n <include file='a.xml'/></mujoco>").unwrap();
    let found = carom_scene::import::import(&folder.join("a.xml"), &Default::default()).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(found[0].message.contains("\"a.xml\" includes itself"), "{}", found[0]);
    assert_eq!((found[0].line, found[0].column), (2, 17));
    let inertial = "<inertial><mass value='1'/><inertia ixx='1e50' iyy='1e50' izz='1e50'/></inertial>";
    let huge = &format!("<robot><link name='a'>{inertial}</link></robot>");
    assert!(read("huge.urdf", huge).is_ok_and(|imported| imported.bodies == 0));
    for bytes in [&b"\xff\xfe<\0"[..], b"", b"\0", b"<", b"<robot", b"&", b"<robot>\xc3\x28</robot>"] {
        let path = std::env::temp_dir().join(format!("carom-bytes-{}.urdf", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let found = carom_scene::import::import(&path, &Default::default());
        std::fs::remove_file(&path).unwrap();
        assert!(found.is_err());
    }
}
